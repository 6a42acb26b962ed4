// Package step has the steps of a function: what its run remembers.
//
// A finished step is never run again, whatever happens to the app: its result, as JSON, is kept, and the code between
// steps is repeated at each of them. So: effects inside of steps, decisions between. Each ID is the step's own in its
// function; a repeated one, as in a loop, is numbered. A step that has failed for good returns a *tidegate.StepError.
//
// A step that is not finished does not return in this call: the goroutine of the handler ends there, after its deferred
// functions have run (runtime.Goexit; no recover stops it), and the service calls the function again when the step is
// done. So a deferred function must be safe to repeat, and must not undo what the next call needs.
//
// Steps take the context that the handler is given, or one made of it. They are called by the handler's goroutine, and
// by the branches of Parallel and All, with the context of the branch; by no other goroutine. They do not nest. What is
// used otherwise returns an error that fails the run for good. After the end of its call, as in a deferred function, a
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

// Run runs once; it is retried, by itself, when it returns an error or panics. It returns what do returned, as JSON.
func Run[T any](ctx context.Context, id string, do func(ctx context.Context) (T, error)) (T, error) {
	return decode[T](id)(replay.Do(ctx, replay.Description{
		Kind: replay.KindRun,
		ID:   id,
		Own:  true,
		Run:  func(ctx context.Context, _ string) (any, error) { return do(ctx) },
	}))
}

// Sleep lets the run wait, at least to the millisecond. It takes up no resources meanwhile.
func Sleep(ctx context.Context, id string, length time.Duration) error {
	return sleep(ctx, id, timing.Write(length))
}

// SleepUntil lets the run wait for a moment. One that has passed does not wait.
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

// SendEvent sends an event from a function, stored once however often the step is tried, and returns its ID.
// It takes what Client.Send takes.
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

// decode reads what a step came to.
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
