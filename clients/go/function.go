package tidegate

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/tidegate/tidegate/clients/go/internal/timing"
)

const (
	defaultRetries = 4
	// maxRetries is the service's limit.
	maxRetries  = 20
	maxTriggers = 10
)

// FunctionOpts configure a function.
type FunctionOpts struct {
	// ID is unique in the app. It is the function's identity: change it and it is a new one.
	ID string
	// Name is for people. Default: the ID.
	Name string
	// Description tells people what the function does; Group brings functions together in lists. Optional.
	Description string
	Group       string
	// Retries after the first try, of the function and of each of its steps: tidegate.Ptr(0). Default: 4.
	Retries *int
	// OnExhausted is what becomes of a run whose function or step has no try left. Default: ExhaustedFail.
	OnExhausted OnExhausted
	// Checkpoint says whether and how a call continues after a step: &Checkpoint{Buffer: 5}. Default: the client's.
	Checkpoint *Checkpoint
	// Versioning says whether its runs end on the version of the app on which they begin (Pinned), or continue with the newest
	// (Latest). Default: the client's.
	Versioning Versioning
	FlowControl
	// Middleware is inside of the client's.
	Middleware []Middleware
	// OnFailure runs when a run of this function has failed for good: a function of its own, <ID>-failure, with steps and
	// retries.
	OnFailure func(ctx context.Context, in FailureInput) (any, error)
}

// OnExhausted is what becomes of a run without a try left.
type OnExhausted string

const (
	// ExhaustedFail: the run fails.
	ExhaustedFail OnExhausted = "fail"
	// ExhaustedPause: the run pauses until somebody resumes it from there.
	ExhaustedPause OnExhausted = "pause"
)

// Input is what a handler gets. Data is the type of its event's data.
type Input[Data any] struct {
	Event GenericEvent[Data]
	// Events are all of this run: one, unless the function takes them in batches.
	Events []GenericEvent[Data]
	RunID  string
	// Attempt is 0 on the first try: of the function, or of the step that this call runs.
	Attempt int
	// MaxAttempts are the tries that there are at most, the first one among them.
	MaxAttempts int
	// Logger logs each line once, though the code between steps is repeated.
	Logger *slog.Logger
}

// Handler is the code of a function. What it returns, as JSON, is the run's output; an error fails this attempt.
type Handler[Data any] func(ctx context.Context, in Input[Data]) (any, error)

// ServableFunction is a function as Serve takes it.
type ServableFunction interface {
	AppID() string
	ID() string
	Name() string
	function() *function
}

// function is its definition.
type function struct {
	appID, id, name    string
	description, group string
	retries            int
	onExhausted        OnExhausted
	// checkpoint is nil when the client's counts.
	checkpoint *Checkpoint
	versioning Versioning
	triggers   []trigger
	flow       FlowControl
	// middleware is the client's and the function's own.
	middleware chain
	// call runs the handler with a call's events, whose data only it can read.
	call func(ctx context.Context, c call, logger *slog.Logger) (any, error)
	// onFailure is registered and served with it; nil when there is none.
	onFailure *function
}

func (f *function) AppID() string { return f.appID }

func (f *function) ID() string { return f.id }

func (f *function) Name() string { return f.name }

func (f *function) function() *function { return f }

// compositeID is the function's ID in the service, where several apps live side by side.
func (f *function) compositeID() string { return f.appID + "-" + f.id }

// CreateFunction defines a function. It runs once it is handed to Serve and the app has registered. It fails when the
// configuration makes no sense.
func CreateFunction[Data any](client *Client, options FunctionOpts, on Trigger, handler Handler[Data]) (ServableFunction, error) {
	f, err := define(client.AppID(), options, on, handler)
	if err == nil {
		err = checkMiddleware(options.Middleware)
	}
	if err != nil {
		return nil, err
	}
	f.middleware = client.middleware().inside(options.Middleware)
	if f.versioning == "" {
		f.versioning = client.options.Versioning
	}
	if options.OnFailure != nil {
		f.onFailure, err = failureFunction(f, options.OnFailure)
	}
	return f, err
}

func define[Data any](appID string, options FunctionOpts, on Trigger, handler Handler[Data]) (*function, error) {
	f := &function{
		appID:       appID,
		id:          options.ID,
		name:        firstOf(options.Name, options.ID),
		description: options.Description,
		group:       options.Group,
		retries:     defaultRetries,
		onExhausted: options.OnExhausted,
		checkpoint:  options.Checkpoint,
		versioning:  options.Versioning,
		flow:        options.FlowControl,
		call:        caller(handler),
	}
	if options.Retries != nil {
		f.retries = *options.Retries
	}
	if on != nil {
		f.triggers = on.triggers()
	}
	return f, f.check()
}

func (f *function) check() error {
	switch {
	case f.id == "":
		return fmt.Errorf("tidegate: a function needs an ID")
	case f.retries < 0 || f.retries > maxRetries:
		return fmt.Errorf("tidegate: function %q: Retries must be from 0 to %d, got %d", f.id, maxRetries, f.retries)
	case f.onExhausted != "" && f.onExhausted != ExhaustedFail && f.onExhausted != ExhaustedPause:
		return fmt.Errorf(`tidegate: function %q: OnExhausted must be "fail" or "pause", got %q`, f.id, f.onExhausted)
	case f.triggers == nil:
		return fmt.Errorf("tidegate: function %q has no triggers; pass Triggers() for one that only other functions invoke", f.id)
	case len(f.triggers) > maxTriggers:
		return fmt.Errorf("tidegate: function %q: Triggers must be at most %d, got %d", f.id, maxTriggers, len(f.triggers))
	}
	if problem := firstOf(f.flow.check(), f.checkpoint.check(), f.versioning.check()); problem != "" {
		return fmt.Errorf("tidegate: function %q: %s", f.id, problem)
	}
	for _, t := range f.triggers {
		if t.Event == "" && !t.isCron {
			return fmt.Errorf("tidegate: function %q: a trigger has the name of an event or a schedule; got neither", f.id)
		}
		if t.isCron && !timing.IsCron(t.Cron) {
			const want = `cron must be a schedule such as "0 9 * * 1" (minute, hour, day, month, weekday)`
			return fmt.Errorf("tidegate: function %q: %s, got %q", f.id, want, t.Cron)
		}
		if jitter := t.jitter; jitter != nil && (*jitter < time.Second || *jitter > day) {
			return fmt.Errorf("tidegate: function %q: Jitter must be a duration from 1s to 24h, got %s", f.id, shownLength(*jitter))
		}
	}
	return nil
}

// caller reads the events of a call for a handler.
func caller[Data any](handler Handler[Data]) func(context.Context, call, *slog.Logger) (any, error) {
	return func(ctx context.Context, c call, logger *slog.Logger) (any, error) {
		in := Input[Data]{RunID: c.runID, Attempt: c.attempt, MaxAttempts: c.maxAttempts, Logger: logger}
		if err := readEvent(c.event, &in.Event); err != nil {
			return nil, err
		}
		for _, text := range c.events {
			var event GenericEvent[Data]
			if err := readEvent(text, &event); err != nil {
				return nil, err
			}
			in.Events = append(in.Events, event)
		}
		return handler(ctx, in)
	}
}

func readEvent[Data any](text json.RawMessage, event *GenericEvent[Data]) error {
	if err := json.Unmarshal(text, event); err != nil {
		return fmt.Errorf("the event does not fit the handler's type %T: %w", event.Data, err)
	}
	if event.ID == nil {
		event.ID = Ptr("")
	}
	return nil
}
