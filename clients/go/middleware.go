package tidegate

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
)

// Middleware wraps the work of a client: ClientOpts.Middleware, and inside it FunctionOpts.Middleware. The first of
// a list is the outermost. Each hook may be nil. An error or a panic of a hook counts as one of the code that it wraps.
type Middleware struct {
	// Name is used in messages.
	Name string
	// OnRun wraps each call of a function. next runs the handler with this context or one derived from it, which
	// a hook uses to pass values to handlers. The hook may change call before, and output and error after.
	//
	// A call that ends at a new step, a sleep or a wait does not return from next: the goroutine ends there
	// (runtime.Goexit) after its deferred functions. So code after next runs only in the last call of a run, in which
	// the handler returns, and deferred functions run in each call.
	OnRun func(ctx context.Context, call *RunCall, next func(context.Context) (any, error)) (any, error)
	// OnStep wraps the code of a step.Run when it runs, not when its stored result is replayed. Its return value
	// becomes the result of the step, as JSON.
	OnStep func(ctx context.Context, step *StepCall, next func(context.Context) (any, error)) (any, error)
	// OnSend wraps a send: Client.Send, Client.SendMany, step.SendEvent and step.SendMany. It may change the events;
	// next returns their IDs. The middleware of a function wraps the sends of its steps.
	OnSend func(ctx context.Context, send *SendCall, next func(context.Context) ([]string, error)) ([]string, error)
	// Encode changes a JSON value that is sent to the service. The first middleware of a list encodes last.
	Encode func(ctx context.Context, value json.RawMessage, at At) (json.RawMessage, error)
	// Decode changes a JSON value that comes from the service, also values that no Encode has seen, such as values of
	// other senders. The first middleware of a list decodes first.
	Decode func(ctx context.Context, value json.RawMessage, at At) (json.RawMessage, error)
}

// At is the kind of a value.
type At string

const (
	// AtEvent is the data of an event that is sent, received or waited for, or of step.Invoke.
	AtEvent At = "event"
	// AtStep is the stored result of a step.
	AtStep At = "step"
	// AtOutput is the return value of a function, which step.Invoke returns, too.
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

// StepCall is one execution of a step.
type StepCall struct {
	AppID, FunctionID, RunID string
	// ID as in the code, and Name: the repeats of one ID are named id:1, id:2, …
	ID, Name string
	// Attempt is 0 on the first try.
	Attempt int
}

// SendCall is one send of events.
type SendCall struct {
	// FunctionID and RunID are set for step.SendEvent, and empty for Client.Send.
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
