// Package step has the steps of a function, which its run remembers.
// A finished step never runs again, whatever happens to the app: its result is kept as JSON. The code between
// steps is repeated after each step. So put effects into steps, and decisions between them. Each step has its own ID in its
// function; a repeated ID, as in a loop, is numbered. A step that failed permanently returns a *tidegate.StepError.
//
// A step that is not finished does not return in this call: the goroutine of the handler ends there, after its deferred
// functions have run (runtime.Goexit; no recover stops it), and the service calls the function again when the step is
// done. So a deferred function must be safe to repeat, and must not undo what the next call needs.
// Steps take the context of the handler, or one derived from it. They are called by the handler's goroutine, and
// by the branches of Parallel and All with the context of the branch, but by no other goroutine. They do not nest. A step
// used in another way returns an error that fails the run permanently. After the end of its call, as in a deferred function, a
// step returns ErrCallEnded.
package step

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/tidegate/tidegate/clients/go/internal/replay"
	"github.com/tidegate/tidegate/clients/go/internal/run"
	"github.com/tidegate/tidegate/clients/go/internal/seed"
	"github.com/tidegate/tidegate/clients/go/internal/timing"
)

// ErrCallEnded is returned by a step that is reached after its call has ended.
var ErrCallEnded = replay.ErrEnded

// ErrOutsideFunction is returned by a step whose context is not of a function.
var ErrOutsideFunction = replay.ErrOutside

// Run runs do once; only this step is retried if do returns an error or panics. It returns the result of do as JSON.
func Run[T any](ctx context.Context, id string, do func(ctx context.Context) (T, error)) (T, error) {
	return decode[T](id)(replay.Do(ctx, replay.Description{
		Kind: replay.KindRun,
		ID:   id,
		Own:  true,
		Run:  func(ctx context.Context, _ string) (any, error) { return do(ctx) },
	}))
}

// Sleep lets the run wait, accurate to the millisecond at least. The run uses no resources meanwhile.
func Sleep(ctx context.Context, id string, length time.Duration) error {
	return sleep(ctx, id, timing.Write(length))
}

// SleepUntil lets the run wait until a time. It does not wait for a time in the past.
func SleepUntil(ctx context.Context, id string, moment time.Time) error {
	return sleep(ctx, id, timing.WriteMoment(moment))
}

func sleep(ctx context.Context, id, duration string) error {
	_, err := replay.Do(ctx, replay.Description{
		Kind: replay.KindSleep,
		ID:   id,
		Name: duration,
		Opts: map[string]any{"duration": duration},
	})
	return err
}

// SendEvent sends an event from a function and returns its ID. It is stored once, however often the step is retried.
// It takes the same events as Client.Send.
func SendEvent(ctx context.Context, id string, event any) (string, error) {
	ids, err := SendMany(ctx, id, []any{event})
	if len(ids) == 0 {
		return "", err
	}
	return ids[0], err
}

// SendMany sends several events in one step, and returns their IDs in order.
func SendMany(ctx context.Context, id string, events []any) ([]string, error) {
	type sent struct {
		IDs []string `json:"ids"`
	}
	result, err := decode[sent](id)(replay.Do(ctx, replay.Description{
		Kind: replay.KindSendEvent,
		ID:   id,
		Name: "sendEvent",
		Opts: map[string]any{"type": "step.sendEvent"},
		Run: func(ctx context.Context, hashedID string) (any, error) {
			// The seed depends on run and step alone: events that arrived in an attempt whose answer was lost are not stored again.
			r := run.Of(ctx)
			ids, err := r.Service.Send(ctx, events, seed.OfStep(r.ID, hashedID, r.EventTime))
			return sent{append([]string{}, ids...)}, err
		},
	}))
	return result.IDs, err
}

// decode reads the result of a step.
func decode[T any](id string) func(json.RawMessage, error) (T, error) {
	return func(data json.RawMessage, err error) (T, error) {
		var value T
		if err != nil {
			return value, err
		}
		if err := json.Unmarshal(data, &value); err != nil {
			return value, fmt.Errorf("the result of step %q does not fit %T: %w", id, value, err)
		}
		return value, nil
	}
}
