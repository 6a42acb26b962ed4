package conformance

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
)

type triggerOptions struct {
	Event string `json:"event"`
	If    string `json:"if"`
	Cron  string `json:"cron"`
	// Jitter of a schedule.
	Jitter  *length `json:"jitter"`
	CatchUp string  `json:"catchUp"`
}

// length is a time.Duration, written as the wire has it.
type length time.Duration

func (l *length) UnmarshalJSON(text []byte) error {
	d, err := lengthOf(text)
	*l = length(d)
	return err
}

// checkpointOptions: whether, or how.
type checkpointOptions tidegate.Checkpoint

func (c *checkpointOptions) UnmarshalJSON(text []byte) error {
	var on bool
	if json.Unmarshal(text, &on) == nil {
		c.Off = !on
		return nil
	}
	var given struct {
		Buffer     int     `json:"buffer"`
		MaxRuntime *length `json:"max_runtime"`
	}
	err := readStrictly(text, &given)
	c.Buffer = given.Buffer
	if given.MaxRuntime != nil {
		// None at all would be the default.
		c.MaxRuntime = max(time.Duration(*given.MaxRuntime), time.Nanosecond)
	}
	return err
}

func (c *checkpointOptions) pointer() *tidegate.Checkpoint { return (*tidegate.Checkpoint)(c) }

// functionOptions have flow control under the wire's names.
type functionOptions struct {
	ID          string               `json:"id"`
	Name        string               `json:"name"`
	Description string               `json:"description"`
	Group       string               `json:"group"`
	Retries     *int                 `json:"retries"`
	OnExhausted tidegate.OnExhausted `json:"onExhausted"`
	Checkpoint  *checkpointOptions   `json:"checkpoint"`
	Versioning  tidegate.Versioning  `json:"versioning"`
	Triggers    []triggerOptions     `json:"triggers"`
	Program     program              `json:"program"`
	OnFailure   *program             `json:"on_failure"`
	Concurrency concurrencies        `json:"concurrency"`
	Throttle    *struct {
		Limit  int    `json:"limit"`
		Period length `json:"period"`
		Burst  int    `json:"burst"`
		Key    string `json:"key"`
	} `json:"throttle"`
	RateLimit *struct {
		Limit  int    `json:"limit"`
		Period length `json:"period"`
		Key    string `json:"key"`
	} `json:"rateLimit"`
	Debounce *struct {
		Period  length `json:"period"`
		Key     string `json:"key"`
		Timeout length `json:"timeout"`
	} `json:"debounce"`
	BatchEvents *struct {
		MaxSize int    `json:"maxSize"`
		Timeout length `json:"timeout"`
		Key     string `json:"key"`
		If      string `json:"if"`
	} `json:"batchEvents"`
	Priority  *tidegate.Priority  `json:"priority"`
	Singleton *tidegate.Singleton `json:"singleton"`
	Order     *struct {
		Key       string               `json:"key"`
		By        string               `json:"by"`
		Window    length               `json:"window"`
		OnStale   tidegate.StaleMode   `json:"onStale"`
		OnFailure tidegate.FailureMode `json:"onFailure"`
		Name      string               `json:"name"`
	} `json:"order"`
	Cancel []struct {
		Event   string `json:"event"`
		If      string `json:"if"`
		Timeout length `json:"timeout"`
	} `json:"cancel"`
	Idempotency string `json:"idempotency"`
	Timeouts    *struct {
		Start  length `json:"start"`
		Finish length `json:"finish"`
	} `json:"timeouts"`
}

// concurrencies: a number, one limit, a list of them, or lists for runs (fn) and for steps.
type concurrencies struct{ Fn, Step limits }

func (c *concurrencies) UnmarshalJSON(text []byte) error {
	var limit int
	if json.Unmarshal(text, &limit) == nil {
		c.Step = limits{{Limit: limit}}
		return nil
	}
	type both concurrencies
	if readStrictly(text, (*both)(c)) == nil {
		return nil
	}
	return readStrictly(text, &c.Step)
}

// limits: one, or a list of them.
type limits []tidegate.Concurrency

func (l *limits) UnmarshalJSON(text []byte) error {
	var one tidegate.Concurrency
	if readStrictly(text, &one) == nil {
		*l = limits{one}
		return nil
	}
	return readStrictly(text, (*[]tidegate.Concurrency)(l))
}

// create makes the function of a case.
func (o functionOptions) create(t *testing.T, client *tidegate.Client) tidegate.ServableFunction {
	t.Helper()
	f, err := o.define(client)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (o functionOptions) define(client *tidegate.Client) (tidegate.ServableFunction, error) {
	options := tidegate.FunctionOpts{ID: o.ID, Name: o.Name, Description: o.Description, Group: o.Group, Retries: o.Retries, OnExhausted: o.OnExhausted, Checkpoint: o.Checkpoint.pointer(), Versioning: o.Versioning, FlowControl: o.flow()}
	if o.OnFailure != nil {
		options.OnFailure = func(ctx context.Context, in tidegate.FailureInput) (any, error) {
			return o.OnFailure.runAs(ctx, in.Input.Event.Raw, in.RunID, in.Attempt, in.MaxAttempts, in.Err)
		}
	}
	var triggers []tidegate.Trigger
	for _, on := range o.Triggers {
		triggers = append(triggers, on.trigger())
	}
	return tidegate.CreateFunction(client, options, tidegate.Triggers(triggers...), func(ctx context.Context, in tidegate.Input[json.RawMessage]) (any, error) {
		return o.Program.runAs(withLogger(ctx, in.Logger), in.Event.Raw, in.RunID, in.Attempt, in.MaxAttempts, nil)
	})
}

func (o triggerOptions) trigger() tidegate.Trigger {
	switch {
	case o.Cron != "":
		return tidegate.CronTrigger(o.Cron, o.cronOptions()...)
	case o.If != "":
		return tidegate.EventTrigger(o.Event, tidegate.If(o.If))
	default:
		return tidegate.EventTrigger(o.Event)
	}
}

func (o triggerOptions) cronOptions() []tidegate.CronOption {
	var options []tidegate.CronOption
	if o.Jitter != nil {
		options = append(options, tidegate.Jitter(time.Duration(*o.Jitter)))
	}
	if o.CatchUp == "all" {
		options = append(options, tidegate.CatchUpAll())
	}
	return options
}

func (o functionOptions) flow() tidegate.FlowControl {
	flow := tidegate.FlowControl{
		Concurrency:    o.Concurrency.Step,
		RunConcurrency: o.Concurrency.Fn,
		Priority:       o.Priority,
		Singleton:      o.Singleton,
		Idempotency:    o.Idempotency,
	}
	if t := o.Throttle; t != nil {
		flow.Throttle = &tidegate.Throttle{Limit: t.Limit, Period: time.Duration(t.Period), Burst: t.Burst, Key: t.Key}
	}
	if r := o.RateLimit; r != nil {
		flow.RateLimit = &tidegate.RateLimit{Limit: r.Limit, Period: time.Duration(r.Period), Key: r.Key}
	}
	if d := o.Debounce; d != nil {
		flow.Debounce = &tidegate.Debounce{Period: time.Duration(d.Period), Key: d.Key, Timeout: time.Duration(d.Timeout)}
	}
	if b := o.BatchEvents; b != nil {
		flow.BatchEvents = &tidegate.BatchEvents{MaxSize: b.MaxSize, Timeout: time.Duration(b.Timeout), Key: b.Key, If: b.If}
	}
	if r := o.Order; r != nil {
		flow.Order = &tidegate.Order{Key: r.Key, By: r.By, Window: time.Duration(r.Window), OnStale: r.OnStale, OnFailure: r.OnFailure, Name: r.Name}
	}
	if t := o.Timeouts; t != nil {
		flow.Timeouts = &tidegate.Timeouts{Start: time.Duration(t.Start), Finish: time.Duration(t.Finish)}
	}
	for _, on := range o.Cancel {
		flow.CancelOn = append(flow.CancelOn, tidegate.CancelOn{Event: on.Event, If: on.If, Timeout: time.Duration(on.Timeout)})
	}
	return flow
}
