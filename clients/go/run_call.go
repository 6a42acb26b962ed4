package tidegate

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/tidegate/tidegate/clients/go/internal/place"
	"github.com/tidegate/tidegate/clients/go/internal/replay"
	"github.com/tidegate/tidegate/clients/go/internal/run"
)

// runCall runs the function as far as this call takes it.
func runCall(ctx context.Context, f *function, c call, logger *slog.Logger, service run.Service) replay.Progress {
	if c.maxAttempts == 0 {
		c.maxAttempts = f.retries + 1
	}
	began := false
	hooks := replay.Hooks{
		Describe:     c.describe,
		Classify:     func(err error) (bool, *int64) { return isNonRetriable(err), retryAfterSeconds(err) },
		StepError:    newStepError,
		Values:       valuesOf(f, c),
		HandlerBegan: func() bool { return began },
	}
	send := service.Send
	service.Send = func(ctx context.Context, events []any, seed string) ([]string, error) {
		told := SendCall{FunctionID: f.id, RunID: c.runID}
		return f.middleware.send(ctx, told, events, func(ctx context.Context, events []any) ([]string, error) { return send(ctx, events, seed) })
	}
	ctx = run.With(ctx, run.Run{ID: c.runID, EventTime: c.eventTime(), Service: service})
	output := f.placesOf(c).Output()
	c, err := f.middleware.decodeEvents(ctx, c)
	if err != nil {
		return replay.Progress{Kind: replay.Failed, Err: err}
	}
	progress := replay.Run(ctx, c.replay, hooks, func(ctx context.Context, now replay.Now) (any, error) {
		return f.runHandler(ctx, c, slog.New(runHandler{app: logger.Handler(), now: now, logs: c.logs}), &began)
	})
	return f.middleware.encodeOutput(ctx, progress, output)
}

// runHandler runs the handler inside of its middleware. Began becomes true when it does.
func (f *function) runHandler(ctx context.Context, c call, logger *slog.Logger, began *bool) (any, error) {
	if len(f.middleware) == 0 {
		*began = true
		return f.call(ctx, c, logger)
	}
	events, err := rawEvents(c.events)
	if err != nil {
		return nil, err
	}
	told := &RunCall{
		AppID:       f.appID,
		FunctionID:  f.id,
		RunID:       c.runID,
		Attempt:     c.attempt,
		MaxAttempts: c.maxAttempts,
		Events:      events,
		Logger:      logger,
	}
	return f.middleware.run(ctx, told, func(ctx context.Context) (any, error) {
		c.events = make([]json.RawMessage, len(told.Events))
		for i, event := range told.Events {
			if c.events[i], err = event.whole(); err != nil {
				return nil, err
			}
		}
		if len(c.events) == 0 {
			return nil, errors.New("a middleware has left the call without events")
		}
		c.event = c.events[0]
		*began = true
		return f.call(ctx, c, told.Logger)
	})
}

// encodeOutput is of a function that has returned.
func (c chain) encodeOutput(ctx context.Context, progress replay.Progress, where place.Place) replay.Progress {
	if progress.Kind != replay.Done || len(c) == 0 {
		return progress
	}
	output, err := replay.Encode(progress.Output)
	if err == nil {
		output, err = c.encode(ctx, output, AtOutput, where)
	}
	if err != nil {
		return replay.Progress{Kind: replay.Failed, Err: err}
	}
	progress.Output = output
	return progress
}

// describe makes the WireError of an error of the call.
func (c call) describe(err error) *replay.WireError {
	wire := describe(err)
	if c.errorSource {
		wire.Source = sourceOf(err)
	}
	return wire
}

// answerOf is a call's outcome in the protocol's terms: 200 done, 206 under way, 400 failed for good, 500 try again.
// An output that cannot be written as JSON fails the attempt. Unstored are finished steps that checkpoints have not stored.
func answerOf(progress replay.Progress, describe func(error) *replay.WireError, unstored []replay.Op) AppAnswer {
	switch progress.Kind {
	case replay.Under:
		progress.Ops = append(unstored, progress.Ops...)
		return underWay(progress)
	case replay.Failed:
		return failedWith(progress.Err, describe, unstored)
	}
	output, err := replay.Encode(progress.Output)
	if err != nil {
		return failedWith(err, describe, unstored)
	}
	if len(unstored) > 0 {
		end := functionEnd(replay.OpRunComplete)
		end.Data = output
		return underWay(replay.Progress{Ops: append(unstored, end)})
	}
	return AppAnswer{Status: http.StatusOK, Header: http.Header{}, Body: output}
}

func underWay(progress replay.Progress) AppAnswer {
	a := jsonAnswer(http.StatusPartialContent, progress.Ops)
	for _, op := range progress.Ops {
		if op.Error != nil {
			a.Header.Set(headerNoRetry, strconv.FormatBool(op.Code == replay.OpStepFailed))
			break
		}
	}
	setRetryAfter(a.Header, progress.RetryAfterSeconds)
	return a
}

// functionEnd is of the function itself instead of a step.
func functionEnd(code replay.OpCode) replay.Op {
	return replay.Op{ID: replay.HashID("complete"), Code: code, Name: "complete", DisplayName: "complete"}
}

func failedWith(err error, describe func(error) *replay.WireError, unstored []replay.Op) AppAnswer {
	final := isFinal(err)
	status := http.StatusInternalServerError
	if final {
		status = http.StatusBadRequest
	}
	a := jsonAnswer(status, describe(err))
	if len(unstored) > 0 {
		end := functionEnd(replay.OpRunError)
		end.Error = describe(err)
		a = jsonAnswer(http.StatusPartialContent, append(unstored, end))
	}
	a.Header.Set(headerNoRetry, strconv.FormatBool(final))
	setRetryAfter(a.Header, retryAfterSeconds(err))
	return a
}

func setRetryAfter(header http.Header, seconds *int64) {
	if seconds != nil {
		header.Set(headerRetryAfter, strconv.FormatInt(*seconds, 10))
	}
}

// jsonAnswer is of values that always can be written as JSON.
func jsonAnswer(status int, body any) AppAnswer {
	text, err := replay.Encode(body)
	if err != nil {
		return AppAnswer{Status: http.StatusInternalServerError, Header: http.Header{}, Body: []byte("null")}
	}
	return AppAnswer{Status: status, Header: http.Header{}, Body: text}
}
