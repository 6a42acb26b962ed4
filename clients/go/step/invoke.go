package step

import (
	"context"
	"fmt"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/internal/replay"
)

// InvokeOpts say which function to run, and with which event.
type InvokeOpts struct {
	// Function is one of this app, or a tidegate.ReferenceFunction. It, or FunctionID, is required.
	Function tidegate.Invocable
	// FunctionID is <app ID>-<function ID>, of any app.
	FunctionID string
	// Data of the event that the function gets: a map or a struct. Default: {}.
	Data any
	// User and V of the event. Optional.
	User map[string]any
	V    string
	// Timeout is the maximum time to wait for the result; Until is the time at which to stop waiting. Default: no timeout.
	Timeout time.Duration
	Until   time.Time
}

// Invoke runs another function and returns its output, or a *tidegate.StepError if it fails.
func Invoke[T any](ctx context.Context, id string, options InvokeOpts) (T, error) {
	opts, err := options.onTheWire(id)
	if err != nil {
		var none T
		return none, err
	}
	return decode[T](id)(doWithOpts(ctx, replay.Description{Kind: replay.KindInvoke, ID: id, Opts: opts}))
}

// InvokeReference is Invoke with the types of the reference.
func InvokeReference[Data, Output any](ctx context.Context, id string, to tidegate.FunctionReference[Data, Output], data Data) (Output, error) {
	return Invoke[Output](ctx, id, InvokeOpts{Function: to, Data: data})
}

func (o InvokeOpts) onTheWire(id string) (map[string]any, error) {
	functionID := o.FunctionID
	if o.Function != nil {
		functionID = o.Function.AppID() + "-" + o.Function.ID()
	}
	if functionID == "" {
		return nil, fmt.Errorf("step %q invokes a function: it needs Function or FunctionID", id)
	}
	data := o.Data
	if data == nil {
		data = map[string]any{}
	}
	payload := map[string]any{"data": data}
	if o.User != nil {
		payload["user"] = o.User
	}
	if o.V != "" {
		payload["v"] = o.V
	}
	opts := map[string]any{"function_id": functionID, "payload": payload}
	if timeout := timeoutOf(o.Timeout, o.Until); timeout != "" {
		opts["timeout"] = timeout
	}
	return opts, nil
}
