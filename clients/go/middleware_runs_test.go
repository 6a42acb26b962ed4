package tidegate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/step"
	"github.com/tidegate/tidegate/clients/go/tidegatetest"
)

func TestAMiddlewareOfRuns(t *testing.T) {
	type key struct{}
	onRun := func(hook func(ctx context.Context, call *tidegate.RunCall, next func(context.Context) (any, error)) (any, error)) []tidegate.Middleware {
		return []tidegate.Middleware{{Name: "test", OnRun: hook}}
	}
	number := func(_ context.Context, in tidegate.Input[map[string]any]) (any, error) {
		return in.Event.Data["n"], nil
	}

	t.Run("hands values to the handler, its branches and its steps", func(t *testing.T) {
		fn := mustCreate(t, onRun(func(ctx context.Context, _ *tidegate.RunCall, next func(context.Context) (any, error)) (any, error) {
			return next(context.WithValue(ctx, key{}, "db"))
		}), nil, func(ctx context.Context, _ tidegate.Input[map[string]any]) (any, error) {
			read := func(ctx context.Context) (any, error) {
				return step.Run(ctx, "read", func(ctx context.Context) (any, error) { return ctx.Value(key{}), nil })
			}
			return step.All(ctx, read, read)
		})
		if result := tidegatetest.Run(t, fn, tidegatetest.Opts{}); string(result.Output) != `["db","db"]` {
			t.Errorf("got %s %v", result.Output, result.Err)
		}
	})

	t.Run("changes the events of the handler, exactly where it says", func(t *testing.T) {
		var raw string
		client := newClient(t, tidegate.ClientOpts{AppID: "shop", Dev: tidegate.Ptr(true), Middleware: onRun(
			func(ctx context.Context, call *tidegate.RunCall, next func(context.Context) (any, error)) (any, error) {
				call.Events[0].Data = json.RawMessage(`{"n":9007199254740993}`)
				call.Events[0].V = ""
				return next(ctx)
			})})
		fn := newFunction(t, client, "fn", func(_ context.Context, in tidegate.Input[map[string]any]) (any, error) {
			raw = string(in.Event.Raw)
			return nil, nil
		})
		wire(t, fn, client, `{"event":{"name":"order/paid","v":"1","data":{},"more":9007199254740993},"ctx":{"run_id":"01R"}}`)
		if raw != `{"data":{"n":9007199254740993},"more":9007199254740993,"name":"order/paid"}` {
			t.Errorf("got %s", raw)
		}
	})

	t.Run("replaces the output", func(t *testing.T) {
		fn := mustCreate(t, onRun(func(ctx context.Context, _ *tidegate.RunCall, next func(context.Context) (any, error)) (any, error) {
			output, err := next(ctx)
			return []any{output}, err
		}), nil, number)
		if result := tidegatetest.Run(t, fn, tidegatetest.Opts{Event: tidegate.Event{Data: map[string]any{"n": 1}}}); string(result.Output) != "[1]" {
			t.Errorf("got %s %v", result.Output, result.Err)
		}
	})

	t.Run("replaces the error", func(t *testing.T) {
		fn := mustCreate(t, onRun(func(ctx context.Context, _ *tidegate.RunCall, next func(context.Context) (any, error)) (any, error) {
			_, err := next(ctx)
			return nil, tidegate.NonRetriable(fmt.Errorf("seen: %w", err))
		}), nil, func(context.Context, tidegate.Input[map[string]any]) (any, error) { return nil, errors.New("no") })
		result := tidegatetest.Run(t, fn, tidegatetest.Opts{Retries: tidegate.Ptr(3)})
		if result.Err == nil || result.Err.Error() != "seen: no" {
			t.Errorf("got %v", result.Err)
		}
	})

	t.Run("fails the call by an error or a panic", func(t *testing.T) {
		for _, hook := range []func(context.Context, *tidegate.RunCall, func(context.Context) (any, error)) (any, error){
			func(context.Context, *tidegate.RunCall, func(context.Context) (any, error)) (any, error) {
				return nil, errors.New("broken")
			},
			func(context.Context, *tidegate.RunCall, func(context.Context) (any, error)) (any, error) {
				panic("broken")
			},
		} {
			result := tidegatetest.Run(t, mustCreate(t, onRun(hook), nil, number), tidegatetest.Opts{})
			if result.Err == nil || !strings.Contains(result.Err.Error(), "broken") {
				t.Errorf("got %v", result.Err)
			}
		}
	})

	t.Run("fails the call when it leaves no event", func(t *testing.T) {
		fn := mustCreate(t, onRun(func(ctx context.Context, call *tidegate.RunCall, next func(context.Context) (any, error)) (any, error) {
			call.Events = nil
			return next(ctx)
		}), nil, number)
		if result := tidegatetest.Run(t, fn, tidegatetest.Opts{}); result.Err == nil || !strings.Contains(result.Err.Error(), "without events") {
			t.Errorf("got %v", result.Err)
		}
	})

	t.Run("fails the call of a step when it does not let the handler begin", func(t *testing.T) {
		client := newClient(t, tidegate.ClientOpts{AppID: "shop", Dev: tidegate.Ptr(true), Middleware: onRun(
			func(context.Context, *tidegate.RunCall, func(context.Context) (any, error)) (any, error) {
				panic("no database")
			})})
		app := newApp(t, client, tidegate.ServeOpts{}, newFunction(t, client, "fn", number))
		a := app.Answer(t.Context(), tidegate.AppRequest{Method: "POST", URL: "/?fnId=shop-fn&stepId=86f7e437", Body: callBody})
		if a.Status != 500 || !strings.Contains(string(a.Body), "no database") {
			t.Errorf("got %d %s", a.Status, a.Body)
		}
	})

	t.Run("is around the function of OnFailure too", func(t *testing.T) {
		var log []string
		client := newClient(t, tidegate.ClientOpts{AppID: "shop", Dev: tidegate.Ptr(true)})
		fn, err := tidegate.CreateFunction(client, tidegate.FunctionOpts{
			ID:        "fn",
			OnFailure: func(context.Context, tidegate.FailureInput) (any, error) { return nil, nil },
			Middleware: onRun(func(ctx context.Context, call *tidegate.RunCall, next func(context.Context) (any, error)) (any, error) {
				log = append(log, call.FunctionID)
				return next(ctx)
			}),
		}, tidegate.EventTrigger("order/paid"), tidegate.Handler[map[string]any](number))
		if err != nil {
			t.Fatal(err)
		}
		app := newApp(t, client, tidegate.ServeOpts{}, fn)
		body := `{"event":{"name":"inngest/function.failed","data":{"function_id":"shop-fn"}},"ctx":{"run_id":"01R"}}`
		a := app.Answer(t.Context(), tidegate.AppRequest{Method: "POST", URL: "/?fnId=shop-fn-failure", Body: body})
		if a.Status != 200 || fmt.Sprint(log) != "[fn-failure]" {
			t.Errorf("got %d %s %v", a.Status, a.Body, log)
		}
	})
}
