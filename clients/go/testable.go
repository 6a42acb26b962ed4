package tidegate

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/tidegate/tidegate/clients/go/internal/place"
	"github.com/tidegate/tidegate/clients/go/internal/replay"
	"github.com/tidegate/tidegate/clients/go/internal/run"
)

// The methods of a function that the package tidegatetest needs. They are not in ServableFunction, because no other package
// calls them.

// ReplayForTest is one call of the function, by a call request's body.
func (f *function) ReplayForTest(ctx context.Context, body []byte, requestedStep string, logger *slog.Logger, service run.Service) (replay.Progress, error) {
	c, err := readCall(ctx, body, settings{})
	if err != nil {
		return replay.Progress{}, err
	}
	c.replay.RequestedStep = requestedStep
	return runCall(ctx, f, c, logger, service), nil
}

// FactsForTest are the retries of the function, and the name of its first event, if it has one.
func (f *function) FactsForTest() (retries int, event string) {
	for _, t := range f.triggers {
		if t.Event != "" {
			return f.retries, t.Event
		}
	}
	return f.retries, ""
}

// StepErrorForTest makes the error that a failed step returns.
func (f *function) StepErrorForTest(stepID string, failure *replay.WireError) error {
	return newStepError(stepID, failure)
}

// DescribeForTest makes the WireError of an error.
func (f *function) DescribeForTest(err error) *replay.WireError { return describe(err) }

// IsFinalForTest says whether no retry would help.
func (f *function) IsFinalForTest(err error) bool { return isFinal(err) }

// PlacesForTest are of the values of a run that the event triggers.
func (f *function) PlacesForTest(runID string, event json.RawMessage) place.Run {
	return f.placesOf(call{runID: runID, event: event})
}

// EncodeForTest is a value, as JSON, as the service gets it.
func (f *function) EncodeForTest(ctx context.Context, value json.RawMessage, at At, where place.Place) (json.RawMessage, error) {
	return f.middleware.encode(ctx, value, at, where)
}

// DecodeForTest is a value, as JSON, as the code gets it.
func (f *function) DecodeForTest(ctx context.Context, value json.RawMessage, at At, where ...place.Place) (json.RawMessage, error) {
	return f.middleware.decode(ctx, value, at, where...)
}

// DecodeEventForTest is an event as the code gets it.
func (f *function) DecodeEventForTest(ctx context.Context, event json.RawMessage) (json.RawMessage, error) {
	return f.middleware.decodeEvent(ctx, event)
}
