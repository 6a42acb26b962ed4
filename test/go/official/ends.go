package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/inngest/inngest/pkg/enums"
	"github.com/inngest/inngestgo"
	"github.com/inngest/inngestgo/group"
	"github.com/inngest/inngestgo/pkg/checkpoint"
	"github.com/inngest/inngestgo/step"
)

// ended is the data of an event about the end of a run.
type ended struct {
	RunID string `json:"run_id"`
}

// notes are what functions note by their run.
type notes struct {
	mutex sync.Mutex
	byRun map[string][]string
}

// add returns all notes of the run.
func (n *notes) add(runID string, note ...string) []string {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	n.byRun[runID] = append(n.byRun[runID], note...)
	return n.byRun[runID]
}

// hostEnds hosts functions about calls, errors and the ends of runs.
func (a app) hostEnds() {
	none := inngestgo.IntPtr(0)
	calls := &notes{byRun: map[string][]string{}}
	a.onEvent(inngestgo.FunctionOpts{ID: "checkpointing", Checkpoint: checkpoint.ConfigSafe}, "checkpointing", nil,
		func(ctx context.Context, in inngestgo.Input[held]) (any, error) {
			made := calls.add(in.InputCtx.RunID, "call")
			for _, id := range []string{"a", "b", "c"} {
				if _, err := step.Run(ctx, id, gives(id)); err != nil {
					return nil, err
				}
			}
			return object{"calls": len(made)}, nil
		})

	a.hostLimitedCalls()

	on(a, "output-of-a-failed-run", none, func(context.Context, inngestgo.Input[object]) (any, error) {
		return nil, errors.New("broken")
	})

	on(a, "step-invoke-of-an-unknown-function", none, func(ctx context.Context, _ inngestgo.Input[object]) (any, error) {
		_, err := step.Invoke[any](ctx, "invoke", step.InvokeOpts{FunctionId: a.client.AppID() + "-unknown"})
		return fmt.Sprint(err), nil
	})

	absent := "event.data.missing == null && event.data.missing != \"x\""
	a.onEvent(inngestgo.FunctionOpts{ID: "missing-fields-in-expressions"}, "missing-fields-in-expressions", &absent,
		func(context.Context, inngestgo.Input[held]) (any, error) { return "done", nil })

	ofOurs := fmt.Sprintf("event.data.function_id == %q", a.client.AppID()+"-wildcard-triggers")
	must(inngestgo.CreateFunction(
		a.client,
		inngestgo.FunctionOpts{ID: "events-on-the-end-of-runs"},
		inngestgo.EventTrigger("inngest/function.finished", &ofOurs),
		func(_ context.Context, in inngestgo.Input[ended]) (any, error) { return in.Event.Data.RunID, nil },
	))

	a.hostRace()
}

// hostLimitedCalls hosts a function whose steps take longer together than a call may.
func (a app) hostLimitedCalls() {
	const id, steps = "checkpointing-with-a-maximum-run-time", 8
	seen := &notes{byRun: map[string][]string{}}
	config := &checkpoint.Config{BatchSteps: 3, BatchInterval: 100 * time.Millisecond, MaxRuntime: 200 * time.Millisecond}
	a.onEvent(inngestgo.FunctionOpts{ID: id, Checkpoint: config}, id, nil,
		func(ctx context.Context, in inngestgo.Input[held]) (any, error) {
			seen.add(in.InputCtx.RunID, "call")
			for n := range steps {
				_, err := step.Run(ctx, fmt.Sprint(n), func(context.Context) (string, error) {
					seen.add(in.InputCtx.RunID, fmt.Sprint(n))
					time.Sleep(60 * time.Millisecond)
					return "", nil
				})
				if err != nil {
					return nil, err
				}
			}
			all := seen.add(in.InputCtx.RunID)
			ran := make([]int, steps)
			for n := range ran {
				ran[n] = countOf(all, fmt.Sprint(n))
			}
			return object{"ran": ran, "calls": countOf(all, "call")}, nil
		})
}

func countOf(all []string, one string) int {
	count := 0
	for _, note := range all {
		if note == one {
			count++
		}
	}
	return count
}

// longest is how long the long step waits for the last of the short ones.
const longest = 10 * time.Second

func (a app) hostRace() {
	orders := &notes{byRun: map[string][]string{}}
	on(a, "race-mode", inngestgo.IntPtr(0), func(ctx context.Context, in inngestgo.Input[object]) (any, error) {
		put := func(ctx context.Context, id string, until ...string) (any, error) {
			return step.Run(ctx, id, func(context.Context) (any, error) {
				for end := time.Now().Add(longest); len(until) > 0 && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
					if slices.Contains(orders.add(in.InputCtx.RunID), until[0]) {
						break
					}
				}
				orders.add(in.InputCtx.RunID, id)
				return id, nil
			})
		}
		results := group.ParallelWithOpts(ctx, group.ParallelOpts{ParallelMode: enums.ParallelModeRace},
			func(ctx context.Context) (any, error) {
				if _, err := put(ctx, "one"); err != nil {
					return nil, err
				}
				return put(ctx, "two")
			},
			func(ctx context.Context) (any, error) { return put(ctx, "long", "two") },
		)
		return object{"order": orders.add(in.InputCtx.RunID)}, results.AnyError()
	})
}
