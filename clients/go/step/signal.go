package step

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/tidegate/tidegate/clients/go/internal/replay"
	"github.com/tidegate/tidegate/clients/go/internal/run"
)

// ErrSignalNotReceived is returned by WaitForSignal at its timeout.
var ErrSignalNotReceived = errors.New("the signal has not come in time")

// WaitForSignalOpts say what to wait for, and how long.
type WaitForSignalOpts struct {
	// Signal is the name of the signal. Only one step of an environment can wait for it: a second step fails its run.
	Signal string
	// Timeout is the maximum time to wait. Timeout or Until is required.
	Timeout time.Duration
	// Until is the time at which to stop waiting, instead of Timeout.
	Until time.Time
	// Replace takes the signal from a step that already waits for it, which then times out.
	Replace bool
}

// WaitForSignal returns the data of the signal, or ErrSignalNotReceived.
func WaitForSignal[Data any](ctx context.Context, id string, options WaitForSignalOpts) (Data, error) {
	var none Data
	timeout := timeoutOf(options.Timeout, options.Until)
	if options.Signal == "" || timeout == "" {
		return none, fmt.Errorf("step %q waits for a signal: it needs Signal, and Timeout or Until", id)
	}
	opts := map[string]any{"signal": options.Signal, "timeout": timeout}
	if options.Replace {
		opts["conflict"] = "replace"
	}
	type signal struct {
		Data json.RawMessage `json:"data"`
	}
	received, err := decode[*signal](id)(replay.Do(ctx, replay.Description{
		Kind: replay.KindSignal,
		ID:   id,
		Name: options.Signal,
		Opts: opts,
	}))
	if err != nil {
		return none, err
	}
	if received == nil {
		return none, ErrSignalNotReceived
	}
	if received.Data == nil {
		return none, nil
	}
	return decode[Data](id)(received.Data, nil)
}

// SendSignal ends the step that waits for the signal, and returns the ID of its run. The ID is empty when no step waits:
// a signal is not stored for later.
func SendSignal(ctx context.Context, id, signal string, data any) (string, error) {
	runID, err := decode[*string](id)(replay.Do(ctx, replay.Description{
		Kind: replay.KindRun,
		ID:   id,
		Name: "sendSignal",
		Opts: map[string]any{"type": "step.sendSignal"},
		Run: func(ctx context.Context, _ string) (any, error) {
			runID, err := run.Of(ctx).Service.SendSignal(ctx, signal, data)
			if err != nil || runID == "" {
				return nil, err
			}
			return runID, nil
		},
	}))
	if runID == nil {
		return "", err
	}
	return *runID, err
}
