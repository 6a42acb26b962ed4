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

// ErrEventNotReceived is returned by WaitForEvent at its timeout.
var ErrEventNotReceived = errors.New("no event has come in time")

// WaitForEventOpts say what to wait for, and how long.
type WaitForEventOpts struct {
	// Event is the name of the event.
	Event string
	// Timeout is the maximum time to wait. Timeout or Until is required.
	Timeout time.Duration
	// Until is the time at which to stop waiting, instead of Timeout.
	Until time.Time
	// If is a CEL expression: `event` is the event that triggered this run, `async` the received event.
	If string
}

// WaitForEvent returns the first matching event from now on, or ErrEventNotReceived.
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

// timeoutOf returns an empty text if there is no timeout.
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
