package main

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/inngest/inngestgo"
	"github.com/inngest/inngestgo/realtime"
	"github.com/inngest/inngestgo/step"
)

// held is the data of an event that runs a function for a while.
type held struct {
	MS int `json:"ms"`
}

// asked is the data of an event that names what a step asks for.
type asked struct {
	URL      string `json:"url"`
	Provider string `json:"provider"`
	Signal   string `json:"signal"`
}

// timed is the data of an event with a time.
type timed struct {
	Until time.Time `json:"until"`
}

// hostFeatures hosts the functions of test/official/features.ts.
func hostFeatures(client inngestgo.Client) {
	a := app{client}
	a.hostFlowControl()
	a.hostTriggers()
	a.hostTimes()
	a.hostRequests()
	a.hostRealtime()
	a.hostEnds()
}

func (a app) hostFlowControl() {
	key := "event.data.n"
	second, minute := time.Second, time.Minute
	for id, opts := range map[string]inngestgo.FunctionOpts{
		"concurrency": {Concurrency: &inngestgo.ConfigConcurrency{Step: []inngestgo.ConfigStepConcurrency{{Limit: 1, Key: &key}}}},
		"throttle":    {Throttle: &inngestgo.ConfigThrottle{Limit: 1, Period: minute, Key: &key}},
		"ratelimit":   {RateLimit: &inngestgo.ConfigRateLimit{Limit: 1, Period: minute, Key: &key}},
		"debounce":    {Debounce: &inngestgo.ConfigDebounce{Key: key, Period: minute}},
		"batchevents": {BatchEvents: &inngestgo.ConfigBatchEvents{MaxSize: 2, Timeout: minute}},
		"priority": {
			Priority:    &inngestgo.ConfigPriority{Run: &key},
			Concurrency: &inngestgo.ConfigConcurrency{Step: []inngestgo.ConfigStepConcurrency{{Limit: 1}}},
		},
		"singleton":   {Singleton: &inngestgo.ConfigSingleton{Key: &key}},
		"idempotency": {Idempotency: &key},
		"timeouts":    {Timeouts: &inngestgo.ConfigTimeouts{Finish: &second}},
	} {
		opts.ID = id
		a.onEvent(opts, id, nil, hold)
	}
}

// hold runs for a while and tells from when to when, on how many events.
func hold(ctx context.Context, in inngestgo.Input[held]) (any, error) {
	return step.Run(ctx, "hold", func(context.Context) (object, error) {
		from := time.Now().UnixMilli()
		time.Sleep(time.Duration(in.Event.Data.MS) * time.Millisecond)
		return object{"from": from, "to": time.Now().UnixMilli(), "events": len(in.Events)}, nil
	})
}

// onEvent hosts a function on the event <app>/<event> that is not tried again unless the options say so.
func (a app) onEvent(opts inngestgo.FunctionOpts, event string, expression *string, run inngestgo.SDKFunction[held]) {
	if opts.Retries == nil {
		opts.Retries = inngestgo.IntPtr(0)
	}
	must(inngestgo.CreateFunction(a.client, opts, inngestgo.EventTrigger(a.named(event), expression), run))
}

func (a app) hostTriggers() {
	done := func(context.Context, inngestgo.Input[held]) (any, error) { return "done", nil }
	large := "event.data.n > 10"
	a.onEvent(inngestgo.FunctionOpts{ID: "if-of-triggers"}, "if-of-triggers", &large, done)
	a.onEvent(inngestgo.FunctionOpts{ID: "wildcard-triggers"}, "wild/*", nil, done)
	must(inngestgo.CreateFunction(
		a.client, inngestgo.FunctionOpts{ID: "cron"}, inngestgo.CronTrigger("* * * * *"),
		func(context.Context, inngestgo.Input[any]) (any, error) { return "done", nil },
	))

	same := "async.data.n == event.data.n"
	cancel := []inngestgo.ConfigCancel{{Event: a.named("cancel"), If: &same}}
	a.onEvent(inngestgo.FunctionOpts{ID: "cancelon", Cancel: cancel}, "cancelon", nil,
		func(ctx context.Context, _ inngestgo.Input[held]) (any, error) {
			step.Sleep(ctx, "nap", time.Hour)
			return nil, nil
		})
}

func (a app) hostTimes() {
	on(a, "step-sleepuntil", nil, func(ctx context.Context, in inngestgo.Input[timed]) (any, error) {
		step.SleepUntil(ctx, "nap", in.Event.Data.Until)
		return nil, nil
	})

	on(a, "retryaftererror", inngestgo.IntPtr(1), func(_ context.Context, in inngestgo.Input[object]) (any, error) {
		if in.InputCtx.Attempt == 0 {
			return nil, inngestgo.RetryAtError(errors.New("soon"), time.Now().Add(time.Second))
		}
		return in.InputCtx.Attempt, nil
	})
}

// hostRequests hosts functions whose steps the service carries out.
func (a app) hostRequests() {
	none := inngestgo.IntPtr(0)
	on(a, "step-ai-infer", none, func(ctx context.Context, in inngestgo.Input[asked]) (any, error) {
		model := step.InferOpenAIOpts(inngestgo.StrPtr("a-key"), &in.Event.Data.Provider)
		body := object{"model": "a-model", "messages": []object{{"role": "user", "content": "hello"}}}
		return step.Infer[object, object](ctx, "ask", step.InferOpts[object]{Opts: model, Body: body})
	})
	on(a, "step-fetch", none, func(ctx context.Context, in inngestgo.Input[asked]) (any, error) {
		response, err := step.Fetch[string](ctx, "fetch", step.FetchOpts{URL: in.Event.Data.URL, Method: "GET"})
		return response.StatusCode, err
	})
	on(a, "step-waitforsignal", none, func(ctx context.Context, in inngestgo.Input[asked]) (any, error) {
		wait := step.WaitForSignalOpts{Signal: in.Event.Data.Signal, Timeout: time.Hour}
		signal, err := step.WaitForSignal[int](ctx, "wait", wait)
		return object{"signal": signal.Signal, "data": signal.Data}, err
	})
}

// number is the data of an event with a number and the address of the service.
type number struct {
	N   int    `json:"n"`
	URL string `json:"url"`
}

func (a app) hostRealtime() {
	publish := func(ctx context.Context, in inngestgo.Input[number]) (any, error) {
		data, err := json.Marshal(object{"n": in.Event.Data.N})
		if err != nil {
			return nil, err
		}
		url := in.Event.Data.URL + "/v1/realtime/publish"
		return nil, realtime.PublishWithURL(ctx, url, a.client.AppID(), "numbers", data)
	}
	on(a, "realtime-publish-and-subscribe", inngestgo.IntPtr(0), publish)
}
