package step_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/step"
)

func gives[T any](value T) func(context.Context) (T, error) {
	return func(context.Context) (T, error) { return value, nil }
}

func TestANewStepEndsTheCall(t *testing.T) {
	t.Run("after the deferred functions, and no recover stops it", func(t *testing.T) {
		var log []string
		a := call(t, func(ctx context.Context, _ tidegate.Input[map[string]any]) (any, error) {
			defer func() { log = append(log, fmt.Sprint("deferred ", recover())) }()
			if _, err := step.Run(ctx, "a", gives(1)); err != nil {
				return nil, err
			}
			log = append(log, "after")
			return "done", nil
		}, called{})
		expect(t, "ops", a.opNames(), "StepRun a; ")
		expect(t, "log", strings.Join(log, ", "), "deferred <nil>")
	})

	t.Run("and a step in a deferred function then says so", func(t *testing.T) {
		var late error
		a := call(t, func(ctx context.Context, _ tidegate.Input[map[string]any]) (any, error) {
			defer func() { late = step.Sleep(ctx, "late", time.Hour) }()
			return nil, step.Sleep(ctx, "nap", time.Hour)
		}, called{})
		expect(t, "ops", a.opNames(), "Sleep nap; ")
		if !errors.Is(late, step.ErrCallEnded) {
			t.Errorf("got %v", late)
		}
	})

	t.Run("and branches unwind before the handler does", func(t *testing.T) {
		var log []string
		call(t, func(ctx context.Context, _ tidegate.Input[map[string]any]) (any, error) {
			defer func() { log = append(log, "handler") }()
			return nil, step.Parallel(ctx,
				func(ctx context.Context) error {
					defer func() { log = append(log, "a") }()
					return step.Sleep(ctx, "a", time.Hour)
				},
				func(ctx context.Context) error {
					defer func() { log = append(log, "b") }()
					return step.Sleep(ctx, "b", time.Hour)
				})
		}, called{})
		expect(t, "log", strings.Join(log, ", "), "b, a, handler")
	})

	t.Run("and no goroutine is left", func(t *testing.T) {
		// The bubble fails the test when a goroutine in it stays blocked.
		synctest.Test(t, func(t *testing.T) {
			call(t, func(ctx context.Context, _ tidegate.Input[map[string]any]) (any, error) {
				return step.All(ctx,
					func(ctx context.Context) (any, error) { return step.All(ctx, runs("a"), runs("b")) },
					runs("c"))
			}, called{})
		})
	})
}

func runs(id string) func(context.Context) (any, error) {
	return func(ctx context.Context) (any, error) { return step.Run(ctx, id, gives[any](id)) }
}

func TestStepsAreRefusedWhereTheyCannotWork(t *testing.T) {
	t.Run("outside of a function", func(t *testing.T) {
		if _, err := step.Run(t.Context(), "a", gives(1)); !errors.Is(err, step.ErrOutsideFunction) {
			t.Errorf("got %v", err)
		}
		if err := step.Parallel(t.Context()); !errors.Is(err, step.ErrOutsideFunction) {
			t.Errorf("got %v", err)
		}
	})

	for name, nested := range map[string]func(outer, inner context.Context) error{
		"inside of a step": func(_, inner context.Context) error { return step.Sleep(inner, "b", time.Second) },
		"inside of a step, with the handler's context": func(outer, _ context.Context) error { return step.Sleep(outer, "b", time.Second) },
		"inside of a step, as branches":                func(_, inner context.Context) error { return step.Parallel(inner, nil) },
		"inside of a step, as the handler's branches":  func(outer, _ context.Context) error { return step.Parallel(outer, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			a := call(t, func(outer context.Context, _ tidegate.Input[map[string]any]) (any, error) {
				return step.Run(outer, "a", func(inner context.Context) (any, error) { return nil, nested(outer, inner) })
			}, called{})
			expect(t, "ops", a.opNames(), "StepFailed a; ")
			if !strings.Contains(a.body, `is inside of step \"a\": steps do not nest`) {
				t.Error(a.body)
			}
		})
	}

	t.Run("in a branch, with the handler's context", func(t *testing.T) {
		a := call(t, func(ctx context.Context, _ tidegate.Input[map[string]any]) (any, error) {
			return nil, step.Parallel(ctx, func(context.Context) error { return step.Sleep(ctx, "a", time.Second) })
		}, called{})
		expect(t, "no-retry", a.noRetry, "true")
		expect(t, "name", a.failure.Name, "NonRetriableError")
		if !strings.Contains(a.failure.Message, "a context that is not its own") {
			t.Error(a.failure.Message)
		}
	})

	t.Run("in several goroutines of the handler's own", func(t *testing.T) {
		a := call(t, func(ctx context.Context, _ tidegate.Input[map[string]any]) (any, error) {
			errs := make(chan error, 2)
			var both sync.WaitGroup
			for _, id := range []string{"a", "b"} {
				both.Go(func() { errs <- step.Sleep(ctx, id, time.Second) })
			}
			err := <-errs
			return nil, err
		}, called{})
		if !strings.Contains(a.failure.Message, "no goroutine but the handler's") && a.status != 206 {
			t.Error(a.body)
		}
	})

	t.Run("without an ID", func(t *testing.T) {
		a := call(t, func(ctx context.Context, _ tidegate.Input[map[string]any]) (any, error) {
			return step.Run(ctx, "", gives(1))
		}, called{})
		if a.status != 500 || !strings.Contains(a.failure.Message, "needs an ID") {
			t.Error(a.body)
		}
	})

	t.Run("a wait without an event or an end, and an invocation without a function", func(t *testing.T) {
		for _, use := range []func(ctx context.Context) error{
			func(ctx context.Context) error {
				_, err := step.WaitForEvent[any](ctx, "a", step.WaitForEventOpts{Event: "order/returned"})
				return err
			},
			func(ctx context.Context) error {
				_, err := step.WaitForEvent[any](ctx, "a", step.WaitForEventOpts{Timeout: time.Hour})
				return err
			},
			func(ctx context.Context) error {
				_, err := step.Invoke[any](ctx, "a", step.InvokeOpts{})
				return err
			},
			func(ctx context.Context) error {
				_, err := step.Invoke[any](ctx, "a", step.InvokeOpts{FunctionID: "shop-b", Data: math.NaN()})
				return err
			},
		} {
			a := call(t, func(ctx context.Context, _ tidegate.Input[map[string]any]) (any, error) { return nil, use(ctx) }, called{})
			if a.status != 500 || !strings.Contains(a.failure.Message, `step "a"`) {
				t.Error(a.body)
			}
		}
	})
}

func TestPanicsMayBeTriedAgain(t *testing.T) {
	bang := func(context.Context) (any, error) { panic("bang") }
	t.Run("of a handler, with its stack", func(t *testing.T) {
		a := call(t, func(ctx context.Context, _ tidegate.Input[map[string]any]) (any, error) { return bang(ctx) }, called{})
		expect(t, "no-retry", a.noRetry, "false")
		expect(t, "message", a.failure.Message, "panic: bang")
		if a.status != 500 || !strings.Contains(a.failure.Stack, "step_test.go") {
			t.Error(a.body)
		}
	})

	t.Run("of a step, with its stack", func(t *testing.T) {
		a := call(t, func(ctx context.Context, _ tidegate.Input[map[string]any]) (any, error) {
			return step.Run(ctx, "a", bang)
		}, called{})
		expect(t, "ops", a.opNames(), "StepError a; ")
		if !strings.Contains(a.ops[0].Error.Stack, "step_test.go") {
			t.Error(a.body)
		}
	})

	t.Run("of a branch: it goes on in the handler", func(t *testing.T) {
		a := call(t, func(ctx context.Context, _ tidegate.Input[map[string]any]) (out any, err error) {
			defer func() { out = fmt.Sprint("recovered ", recover()) }()
			return step.All(ctx, bang)
		}, called{})
		expect(t, "body", a.body, `"recovered panic: bang"`)
	})

	t.Run("and so may what ends its goroutine", func(t *testing.T) {
		exits := func(context.Context) (any, error) { runtime.Goexit(); return nil, nil }
		a := call(t, func(ctx context.Context, _ tidegate.Input[map[string]any]) (any, error) { return exits(ctx) }, called{})
		if a.status != 500 || !strings.Contains(a.failure.Message, "Goexit") {
			t.Error(a.body)
		}
		a = call(t, func(ctx context.Context, _ tidegate.Input[map[string]any]) (any, error) {
			return step.Run(ctx, "a", exits)
		}, called{})
		expect(t, "ops", a.opNames(), "StepError a; ")
	})
}

func TestStepsThatHaveFailed(t *testing.T) {
	failed := called{steps: map[string]string{"a": `{"error":{"name":"CardError","message":"declined","stack":"at x"}}`}}
	t.Run("return a StepError", func(t *testing.T) {
		a := call(t, func(ctx context.Context, _ tidegate.Input[map[string]any]) (any, error) {
			_, err := step.Run(ctx, "a", gives(1))
			var failure *tidegate.StepError
			if !errors.As(err, &failure) {
				return nil, fmt.Errorf("got %v", err)
			}
			return []string{failure.StepID, failure.Name, failure.Message, failure.Stack}, nil
		}, failed)
		expect(t, "body", a.body, `["a","CardError","declined","at x"]`)
	})

	t.Run("fail the run for good, when it is wrapped too", func(t *testing.T) {
		a := call(t, func(ctx context.Context, _ tidegate.Input[map[string]any]) (any, error) {
			_, err := step.Run(ctx, "a", gives(1))
			return nil, fmt.Errorf("charging: %w", err)
		}, failed)
		expect(t, "failure", fmt.Sprint(a.status, a.noRetry, " ", a.failure.Name, " ", a.failure.Message), "400true CardError charging: declined")
	})
}

func TestErrorsHaveTheNameOfTheirType(t *testing.T) {
	for want, err := range map[string]error{
		"Error":             errors.New("x"),
		"CardError":         &CardError{},
		"NonRetriableError": fmt.Errorf("x: %w", tidegate.NonRetriable(&CardError{})),
		"RetryAfterError":   fmt.Errorf("x: %w", tidegate.RetryAfter(&CardError{}, time.Second)),
	} {
		a := call(t, func(context.Context, tidegate.Input[map[string]any]) (any, error) { return nil, err }, called{})
		expect(t, "name", a.failure.Name, want)
	}
}

type CardError struct{}

func (*CardError) Error() string { return "declined" }

func TestResultsMustFit(t *testing.T) {
	t.Run("a result that cannot be written as JSON fails the step", func(t *testing.T) {
		a := call(t, func(ctx context.Context, _ tidegate.Input[map[string]any]) (any, error) {
			return step.Run(ctx, "a", gives(math.Inf(1)))
		}, called{})
		expect(t, "ops", a.opNames(), "StepError a; ")
	})
	t.Run("an output that cannot be written as JSON fails the attempt", func(t *testing.T) {
		a := call(t, func(context.Context, tidegate.Input[map[string]any]) (any, error) { return math.NaN(), nil }, called{})
		expect(t, "status", fmt.Sprint(a.status, a.noRetry), "500false")
	})
	t.Run("a memo of another type is an error", func(t *testing.T) {
		a := call(t, func(ctx context.Context, _ tidegate.Input[map[string]any]) (any, error) {
			return step.Run(ctx, "a", gives(1))
		}, called{steps: map[string]string{"a": `{"data":"text"}`}})
		if a.status != 500 || !strings.Contains(a.failure.Message, `the result of step "a" does not fit int`) {
			t.Error(a.body)
		}
	})
	t.Run("large numbers are exact where their type is", func(t *testing.T) {
		a := call(t, func(ctx context.Context, _ tidegate.Input[map[string]any]) (any, error) {
			return step.Run(ctx, "a", gives(uint64(0)))
		}, called{steps: map[string]string{"a": `{"data":18446744073709551615}`}})
		expect(t, "body", a.body, "18446744073709551615")
	})
}

func TestBranches(t *testing.T) {
	t.Run("return with the first error, though others have not ended", func(t *testing.T) {
		a := call(t, func(ctx context.Context, _ tidegate.Input[map[string]any]) (any, error) {
			err := step.Parallel(ctx,
				func(ctx context.Context) error { return step.Sleep(ctx, "nap", time.Hour) },
				func(context.Context) error { return errors.New("first") },
				func(context.Context) error { return errors.New("second") })
			return fmt.Sprint(err), nil
		}, called{})
		expect(t, "body", a.body, `"first"`)
	})

	t.Run("need no locks", func(t *testing.T) {
		var branches []func(context.Context) error
		sum := 0
		steps, order := map[string]string{}, []string{}
		for i := range 20 {
			id := fmt.Sprint("s", i)
			steps[id] = fmt.Sprintf(`{"data":%d}`, i)
			order = append([]string{id}, order...)
			branches = append(branches, func(ctx context.Context) error {
				n, err := step.Run(ctx, id, gives(0))
				sum += n
				return err
			})
		}
		a := call(t, func(ctx context.Context, _ tidegate.Input[map[string]any]) (any, error) {
			return nil, step.Parallel(ctx, branches...)
		}, called{steps: steps, order: order})
		expect(t, "sum", fmt.Sprint(a.status, " ", sum), "200 190")
	})
}

func TestTheLoggerDoesNotRepeatItself(t *testing.T) {
	a := call(t, func(ctx context.Context, in tidegate.Input[map[string]any]) (any, error) {
		in.Logger.Info("before a")
		if _, err := step.Run(ctx, "a", gives(1)); err != nil {
			return nil, err
		}
		in.Logger.With("k", 1).WithGroup("g").Info("after a", "n", 2)
		return nil, nil
	}, called{steps: map[string]string{"a": `{"data":1}`}})
	if strings.Contains(a.log, "before a") || !strings.Contains(a.log, `msg="after a" k=1 g.n=2`) {
		t.Error(a.log)
	}
}

func TestAStepHasTheContextThatItIsCalledWith(t *testing.T) {
	type key struct{}
	a := call(t, func(ctx context.Context, _ tidegate.Input[map[string]any]) (any, error) {
		return step.Run(context.WithValue(ctx, key{}, "value"), "a", func(ctx context.Context) (any, error) { return ctx.Value(key{}), nil })
	}, called{})
	expect(t, "data", string(a.ops[0].Data), `"value"`)
}
