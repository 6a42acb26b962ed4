package tidegate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/step"
	"github.com/tidegate/tidegate/clients/go/tidegatetest"
)

// noted writes into the log when its hooks begin and end.
func noted(name string, log *[]string) tidegate.Middleware {
	note := func(format string, values ...any) { *log = append(*log, name+" "+fmt.Sprintf(format, values...)) }
	return tidegate.Middleware{
		Name: name,
		OnRun: func(ctx context.Context, call *tidegate.RunCall, next func(context.Context) (any, error)) (any, error) {
			note("run %s/%s", call.AppID, call.FunctionID)
			output, err := next(ctx)
			note("ran: %v %v", output, err)
			return output, err
		},
		OnStep: func(ctx context.Context, s *tidegate.StepCall, next func(context.Context) (any, error)) (any, error) {
			note("step %s", s.Name)
			result, err := next(ctx)
			note("stepped: %v %v", result, err)
			return result, err
		},
		OnSend: func(ctx context.Context, send *tidegate.SendCall, next func(context.Context) ([]string, error)) ([]string, error) {
			note("send %s", send.Events[0].Name)
			ids, err := next(ctx)
			note("sent %v", ids)
			return ids, err
		},
		Encode: func(_ context.Context, value json.RawMessage, at tidegate.At) (json.RawMessage, error) {
			return json.Marshal(map[string]json.RawMessage{name: value})
		},
		Decode: func(_ context.Context, value json.RawMessage, at tidegate.At) (json.RawMessage, error) {
			var wrapped map[string]json.RawMessage
			if json.Unmarshal(value, &wrapped) != nil || wrapped[name] == nil {
				return nil, fmt.Errorf("%s was not encoded by %s", value, name)
			}
			return wrapped[name], nil
		},
	}
}

func mustCreate(t *testing.T, middleware, own []tidegate.Middleware, handler tidegate.Handler[map[string]any]) tidegate.ServableFunction {
	t.Helper()
	client := newClient(t, tidegate.ClientOpts{AppID: "shop", Dev: tidegate.Ptr(true), Middleware: middleware, Logger: slog.New(slog.DiscardHandler)})
	options := tidegate.FunctionOpts{ID: "fn", Retries: tidegate.Ptr(0), Middleware: own}
	fn, err := tidegate.CreateFunction(client, options, tidegate.EventTrigger("order/paid"), handler)
	if err != nil {
		t.Fatal(err)
	}
	return fn
}

func TestMiddlewareIsAroundRunsStepsAndSends(t *testing.T) {
	var log []string
	fn := mustCreate(t, []tidegate.Middleware{noted("outer", &log)}, []tidegate.Middleware{noted("inner", &log)},
		func(ctx context.Context, in tidegate.Input[map[string]any]) (any, error) {
			log = append(log, "handler")
			n, err := step.Run(ctx, "count", func(context.Context) (int, error) { return 7, nil })
			if err != nil {
				return nil, err
			}
			_, err = step.SendEvent(ctx, "tell", tidegate.Event{Name: "order/counted", Data: map[string]any{"n": n}})
			return n, err
		})

	result := tidegatetest.Run(t, fn, tidegatetest.Opts{Event: tidegate.Event{Data: map[string]any{"total": 3}}})

	if result.Err != nil || string(result.Output) != "7" || string(result.Steps[0].Data) != "7" {
		t.Fatalf("got %s, %v, %+v", result.Output, result.Err, result.Steps)
	}
	if sent := result.Sent[0]; sent.Name != "order/counted" || sent.Data["n"] != 7.0 {
		t.Errorf("got %+v", sent)
	}
	// Each call that ends at a new step begins as the one before; the code after next is only in the last one.
	begin := "outer run shop/fn, inner run shop/fn, handler"
	expected := strings.Join([]string{
		begin, begin, "outer step count, inner step count, inner stepped: 7 <nil>, outer stepped: 7 <nil>",
		begin, begin, "outer send order/counted, inner send order/counted, inner sent [test-event-1], outer sent [test-event-1]",
		begin, "inner ran: 7 <nil>, outer ran: 7 <nil>",
	}, ", ")
	if got := strings.Join(log, ", "); got != expected {
		t.Errorf("got      %s\nexpected %s", got, expected)
	}
}

// wire is the app's response to a call with these fields of its body.
func wire(t *testing.T, fn tidegate.ServableFunction, client *tidegate.Client, body string) tidegate.AppAnswer {
	t.Helper()
	app := newApp(t, client, tidegate.ServeOpts{}, fn)
	return app.Answer(t.Context(), tidegate.AppRequest{Method: "POST", URL: "/?fnId=shop-fn", Body: body})
}

func TestTheFirstMiddlewareIsNearestToTheWire(t *testing.T) {
	var log []string
	client := newClient(t, tidegate.ClientOpts{AppID: "shop", Dev: tidegate.Ptr(true), Middleware: []tidegate.Middleware{noted("outer", &log), noted("inner", &log)}})
	fn := newFunction(t, client, "fn", func(ctx context.Context, in tidegate.Input[map[string]any]) (any, error) {
		return step.Run(ctx, "a", func(context.Context) (any, error) { return in.Event.Data["n"], nil })
	})
	a := wire(t, fn, client, `{"event":{"name":"order/paid","data":{"outer":{"inner":{"n":7}}}},"ctx":{"run_id":"01R"}}`)
	if a.Status != 206 || !strings.Contains(string(a.Body), `"data":{"outer":{"inner":7}}`) {
		t.Errorf("got %d %s", a.Status, a.Body)
	}
}

func TestADecodingThatFailsIsNoErrorOfItsStep(t *testing.T) {
	client := newClient(t, tidegate.ClientOpts{AppID: "shop", Dev: tidegate.Ptr(true), Middleware: []tidegate.Middleware{{
		Name: "picky",
		Decode: func(_ context.Context, value json.RawMessage, at tidegate.At) (json.RawMessage, error) {
			if at == tidegate.AtStep {
				return nil, tidegate.NonRetriable(errors.New("cannot be read"))
			}
			return value, nil
		},
	}}})
	fn := newFunction(t, client, "fn", func(ctx context.Context, _ tidegate.Input[map[string]any]) (any, error) {
		if _, err := step.Run(ctx, "a", func(context.Context) (int, error) { return 1, nil }); err != nil {
			return "caught", nil
		}
		return "done", nil
	})
	// The SHA-1 of "a".
	a := wire(t, fn, client, `{"event":{"name":"order/paid","data":{}},"steps":{"86f7e437faa5a7fce15d1ddcb9eaeaea377667b8":{"data":1}},"ctx":{"run_id":"01R"}}`)
	if a.Status != 400 || !bytes.Contains(a.Body, []byte(`"message":"cannot be read"`)) {
		t.Errorf("got %d %s", a.Status, a.Body)
	}
}

func TestMiddlewareNeedsAName(t *testing.T) {
	if _, err := tidegate.NewClient(tidegate.ClientOpts{AppID: "shop", Middleware: []tidegate.Middleware{{}}}); err == nil {
		t.Error("the client took it")
	}
	client := newClient(t, tidegate.ClientOpts{AppID: "shop"})
	_, err := tidegate.CreateFunction(client, tidegate.FunctionOpts{ID: "fn", Middleware: []tidegate.Middleware{{}}},
		tidegate.EventTrigger("order/paid"), echo)
	if err == nil {
		t.Error("the function took it")
	}
}

func TestStubsOfTestsAreAsTheCodeHasThem(t *testing.T) {
	var log []string
	fn := mustCreate(t, []tidegate.Middleware{noted("m", &log)}, nil, func(ctx context.Context, _ tidegate.Input[map[string]any]) (any, error) {
		ran, err := step.Run(ctx, "run", func(context.Context) (int, error) { return 0, nil })
		if err != nil {
			return nil, err
		}
		invoked, err := step.Invoke[int](ctx, "invoke", step.InvokeOpts{FunctionID: "shop-other", Data: map[string]any{"n": ran}})
		if err != nil {
			return nil, err
		}
		event, err := step.WaitForEvent[map[string]int](ctx, "wait", step.WaitForEventOpts{Event: "order/returned", Timeout: time.Hour})
		if err != nil {
			return nil, err
		}
		_, err = step.WaitForEvent[any](ctx, "never", step.WaitForEventOpts{Event: "order/returned", Timeout: time.Hour})
		return []int{ran, invoked, event.Data["n"]}, errors.Join(err, step.Sleep(ctx, "nap", time.Hour))
	})
	result := tidegatetest.Run(t, fn, tidegatetest.Opts{Steps: map[string]any{
		"run":    1,
		"invoke": 2,
		"wait":   tidegate.Event{Data: map[string]any{"n": 3}},
	}})
	if !errors.Is(result.Err, step.ErrEventNotReceived) {
		t.Errorf("got %s %v", result.Output, result.Err)
	}
	got := ""
	for _, s := range result.Steps {
		got += fmt.Sprintf("%s %s; ", s.ID, s.Data)
	}
	expected := `run 1; invoke 2; wait {"data":{"n":3},"id":"test-event","name":"order/returned","ts":0}; never null; nap null; `
	if got != expected {
		t.Errorf("got %s", got)
	}
}
