package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/inngest/inngestgo"
	"github.com/inngest/inngestgo/group"
	"github.com/inngest/inngestgo/step"
)

type object = map[string]any

// numbered is the data of an event with a number.
type numbered struct {
	N int `json:"n"`
}

// app makes functions, each on the event <app>/<function>.
type app struct{ client inngestgo.Client }

func host(client inngestgo.Client) {
	a := app{client}
	a.hostSteps()
	a.hostRetries()
	a.hostEvents()
	a.hostFailures()
}

func (a app) named(name string) string { return a.client.AppID() + "/" + name }

// event is one that runs receipt.
func (a app) event(data object) inngestgo.Event {
	return inngestgo.Event{Name: a.named("receipt"), Data: data}
}

func on[T any](a app, id string, retries *int, handler inngestgo.SDKFunction[T]) inngestgo.ServableFunction {
	opts := inngestgo.FunctionOpts{ID: id, Retries: retries}
	return must(inngestgo.CreateFunction(a.client, opts, inngestgo.EventTrigger(a.named(id), nil), handler))
}

func must(fn inngestgo.ServableFunction, err error) inngestgo.ServableFunction {
	if err != nil {
		log.Fatal(err)
	}
	return fn
}

func (a app) hostSteps() {
	on(a, "chain", nil, func(ctx context.Context, in inngestgo.Input[numbered]) (any, error) {
		doubled, err := step.Run(ctx, "double", gives(in.Event.Data.N*2))
		if err != nil {
			return nil, err
		}
		step.Sleep(ctx, "nap", 100*time.Millisecond)
		step.SleepUntil(ctx, "nap on", time.Now().Add(100*time.Millisecond))
		sum, err := step.Run(ctx, "add", gives(doubled+1))
		return object{"result": sum}, err
	})

	on(a, "branches", nil, func(ctx context.Context, _ inngestgo.Input[object]) (any, error) {
		results := group.Parallel(ctx,
			func(ctx context.Context) (any, error) { return step.Run(ctx, "one", gives(1)) },
			func(ctx context.Context) (any, error) { return step.Run(ctx, "two", gives(2)) },
		)
		if err := results.AnyError(); err != nil {
			return nil, err
		}
		sum, err := step.Run(ctx, "sum", gives(results[0].Value.(int)+results[1].Value.(int)))
		return object{"sum": sum}, err
	})
}

// gives is a step with that output.
func gives[T any](output T) func(context.Context) (T, error) {
	return func(context.Context) (T, error) { return output, nil }
}

func (a app) hostRetries() {
	thirdTimeLucky := func(attempt int) (int, error) {
		if attempt < 2 {
			return 0, fmt.Errorf("attempt %d fails", attempt)
		}
		return attempt, nil
	}

	on(a, "stumbles", inngestgo.IntPtr(3), func(_ context.Context, in inngestgo.Input[object]) (any, error) {
		attempt, err := thirdTimeLucky(in.InputCtx.Attempt)
		return object{"attempt": attempt}, err
	})

	on(a, "flaky", inngestgo.IntPtr(3), func(ctx context.Context, in inngestgo.Input[object]) (any, error) {
		attempt, err := step.Run(ctx, "flaky", func(context.Context) (int, error) {
			return thirdTimeLucky(in.InputCtx.Attempt)
		})
		return object{"attempt": attempt}, err
	})

	on(a, "caught", inngestgo.IntPtr(0), func(ctx context.Context, _ inngestgo.Input[object]) (any, error) {
		_, err := step.Run(ctx, "fail", func(context.Context) (any, error) { return nil, errors.New("broken") })
		var failed inngestgo.StepError
		if !errors.As(err, &failed) {
			return nil, fmt.Errorf("not the error of a step: %v", err)
		}
		return object{"caught": failed.Message}, nil
	})
}

func (a app) hostEvents() {
	receipt := on(a, "receipt", nil, func(_ context.Context, in inngestgo.Input[object]) (any, error) {
		return object{"got": in.Event.Data}, nil
	})

	on(a, "sends", nil, func(ctx context.Context, in inngestgo.Input[object]) (any, error) {
		id, err := step.Send(ctx, "send", a.event(in.Event.Data))
		return object{"ids": []string{id}}, err
	})

	on(a, "relays", nil, func(ctx context.Context, _ inngestgo.Input[object]) (any, error) {
		ids, err := a.client.SendMany(ctx, []any{a.event(object{"n": 1}), a.event(object{"n": 2})})
		return object{"ids": ids}, err
	})

	on(a, "slow", nil, func(_ context.Context, input inngestgo.Input[numbered]) (any, error) {
		seconds := input.Event.Data.N
		time.Sleep(time.Duration(seconds) * time.Second)
		return object{"slept": seconds}, nil
	})

	on(a, "waits", nil, func(ctx context.Context, _ inngestgo.Input[object]) (any, error) {
		answer, err := step.WaitForEvent[inngestgo.Event](ctx, "wait", step.WaitForEventOpts{
			Event:   a.named("answer"),
			Timeout: time.Minute,
			If:      inngestgo.StrPtr("event.data.n == async.data.n"),
		})
		return object{"answer": answer.Data}, err
	})

	on(a, "waits-in-vain", nil, func(ctx context.Context, _ inngestgo.Input[object]) (any, error) {
		answer, err := step.WaitForEvent[*inngestgo.Event](ctx, "wait", step.WaitForEventOpts{
			Event:   a.named("never"),
			Timeout: time.Second,
		})
		if !errors.Is(err, step.ErrEventNotReceived) {
			return nil, fmt.Errorf("not the end of a wait: %v", err)
		}
		return object{"answer": answer}, nil
	})

	on(a, "invokes", nil, func(ctx context.Context, in inngestgo.Input[object]) (any, error) {
		opts := step.InvokeOpts{FunctionId: receipt.FullyQualifiedID(), Data: in.Event.Data}
		invoked, err := step.Invoke[object](ctx, "invoke", opts)
		return object{"invoked": invoked}, err
	})
}

func (a app) hostFailures() {
	hopeless := on(a, "hopeless", nil, func(context.Context, inngestgo.Input[object]) (any, error) {
		return nil, inngestgo.NoRetryError(errors.New("hopeless indeed"))
	})

	type failure struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
		Event inngestgo.Event `json:"event"`
	}
	// The SDK has no failure handlers of its own.
	ofHopeless := fmt.Sprintf("event.data.function_id == %q", hopeless.FullyQualifiedID())
	must(inngestgo.CreateFunction(
		a.client,
		inngestgo.FunctionOpts{ID: "hopeless-failed"},
		inngestgo.EventTrigger("inngest/function.failed", &ofHopeless),
		func(ctx context.Context, in inngestgo.Input[failure]) (any, error) {
			told := object{"message": in.Event.Data.Error.Message, "data": in.Event.Data.Event.Data}
			return a.client.Send(ctx, inngestgo.Event{Name: a.named("handled"), Data: told})
		},
	))
}
