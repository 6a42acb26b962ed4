package tidegate

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
)

// Middleware stands around what a client does: ClientOpts.Middleware, and inside of it FunctionOpts.Middleware. The first of
// a list is the outermost. Each hook may be nil. An error of a hook, or a panic, is like one of the code that it is around.
type Middleware struct {
	// Name is for messages.
	Name string
	// OnRun is around each call of a function. next runs the handler with this context, or one made of it, which the handler
	// then has: so a hook hands on what handlers need. The hook may change call before, and output and error after.
	//
	// A call that ends at a new step, a sleep or a wait does not return from next: the goroutine ends there
	// (runtime.Goexit) after its deferred functions. So what follows next is done in the last call of a run alone, in which
	// the handler returns, and deferred functions in each call.
	OnRun func(ctx context.Context, call *RunCall, next func(context.Context) (any, error)) (any, error)
	// OnStep is around the code of a step.Run: when it is run, not when its stored result is repeated. What it returns
	// becomes the result of the step, as JSON.
	OnStep func(ctx context.Context, step *StepCall, next func(context.Context) (any, error)) (any, error)
	// OnSend is around a send: Client.Send, Client.SendMany, step.SendEvent and step.SendMany. It may change the events;
	// next returns their IDs. A middleware of a function is around the sends of its steps.
	OnSend func(ctx context.Context, send *SendCall, next func(context.Context) ([]string, error)) ([]string, error)
	// Encode changes a value, as JSON, on its way to the service. The first middleware of a list encodes last.
	Encode func(ctx context.Context, value json.RawMessage, at At) (json.RawMessage, error)
	// Decode changes a value, as JSON, on its way from the service; also values that no Encode has seen, such as those of
	// other senders. The first middleware of a list decodes first.
	Decode func(ctx context.Context, value json.RawMessage, at At) (json.RawMessage, error)
}

// At says what a value is.
type At string

const (
	// AtEvent is the data of an event: sent, received, waited for, or of step.Invoke.
	AtEvent At = "event"
	// AtStep is the stored result of a step.
	AtStep At = "step"
	// AtOutput is what a function returns, and what step.Invoke gets of it.
	AtOutput At = "output"
)

// RawEvent is an event whose data is JSON.
type RawEvent = GenericEvent[json.RawMessage]

// RunCall is one call of a function.
type RunCall struct {
	AppID, FunctionID, RunID string
	// Attempt is 0 on the first try, of at most MaxAttempts.
	Attempt, MaxAttempts int
	// Events of the run. The first one is Input.Event.
	Events []RawEvent
	// Logger is Input.Logger.
	Logger *slog.Logger
}

// StepCall is a step that is run.
type StepCall struct {
	AppID, FunctionID, RunID string
	// ID as in the code, and Name: the repeats of one ID are named id:1, id:2, …
	ID, Name string
	// Attempt is 0 on the first try.
	Attempt int
}

// SendCall is one send of events.
type SendCall struct {
	// FunctionID and RunID are of step.SendEvent alone; of Client.Send they are empty.
	FunctionID, RunID string
	Events            []RawEvent
}

func checkMiddleware(list []Middleware) error {
	for i, m := range list {
		if m.Name == "" {
			return fmt.Errorf("tidegate: middleware %d needs a Name", i)
		}
	}
	return nil
}
