package step

import (
	"context"
	"errors"
	"fmt"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/internal/replay"
	"github.com/tidegate/tidegate/clients/go/internal/timing"
)

// ErrEventNotReceived is returned by WaitForEvent when no event has come in time.
var ErrEventNotReceived = errors.New("no event has come in time")

// WaitForEventOpts say what to wait for, and how long.
type WaitForEventOpts struct {
	// Event is its name.
	Event string
	// Timeout is how long to wait at most. It, or Until, is required.
	Timeout time.Duration
	// Until when to wait at most, instead of Timeout.
	Until time.Time
	// If is CEL: `event` is the one that triggered this run, `async` the one that arrives.
	If string
}

// WaitForEvent returns the first such event from now on, or ErrEventNotReceived.
func WaitForEvent[Data any](ctx context.Context, id string, options WaitForEventOpts) (tidegate.GenericEvent[Data], error) {
	timeout := timeoutOf(options.Timeout, options.Until)
	if options.Event == "" || timeout == "" {
		return tidegate.GenericEvent[Data]{}, fmt.Errorf("step %q waits for an event: it needs Event, and Timeout or Until", id)
	}
	opts := map[string]any{"event": options.Event, "timeout": timeout}
	if options.If != "" {
		opts["if"] = options.If
	}
	event, err := decode[*tidegate.GenericEvent[Data]](id)(replay.Do(ctx, replay.Description{
		Kind: replay.KindWait,
		ID:   id,
		Name: options.Event,
		Opts: opts,
	}))
	if err != nil {
		return tidegate.GenericEvent[Data]{}, err
	}
	if event == nil {
		return tidegate.GenericEvent[Data]{}, ErrEventNotReceived
	}
	return *event, nil
}

// timeoutOf is empty when there is none.
func timeoutOf(length time.Duration, until time.Time) string {
	switch {
	case !until.IsZero():
		return timing.WriteMoment(until)
	case length > 0:
		return timing.Write(length)
	default:
		return ""
	}
}
