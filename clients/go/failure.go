package tidegate

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/tidegate/tidegate/clients/go/internal/replay"
)

// failedEvent is the name of the event that the service sends when a run has failed permanently.
const failedEvent = "inngest/function.failed"

// FailureData is the data of the event that the service sends when a run has failed permanently.
type FailureData struct {
	// FunctionID is <app ID>-<function ID>.
	FunctionID string   `json:"function_id"`
	RunID      string   `json:"run_id"`
	Error      RunError `json:"error"`
	// Event is the event that triggered the run; its Data is JSON.
	Event GenericEvent[json.RawMessage] `json:"event"`
}

// FailureInput is the input of an OnFailure.
type FailureInput struct {
	Input[FailureData]
	// Err is the error with which the run failed.
	Err *RunError
}

// RunError is the error with which a run failed.
type RunError struct {
	Name    string `json:"name"`
	Message string `json:"message"`
	Stack   string `json:"stack,omitempty"`
	// Code is a string or a float64; nil: there is none.
	Code any `json:"code,omitempty"`
	// Data is JSON; nil: there is none.
	Data json.RawMessage `json:"data,omitempty"`
	// Cause is a *CauseError; nil: there is none.
	Cause error `json:"-"`
}

func (e *RunError) Error() string { return e.Message }

func (e *RunError) Unwrap() error { return e.Cause }

// UnmarshalJSON reads the form that the service writes.
func (e *RunError) UnmarshalJSON(text []byte) error {
	var wire replay.WireError
	if err := json.Unmarshal(text, &wire); err != nil {
		return err
	}
	*e = RunError{wire.Name, wire.Message, wire.Stack, codeOf(wire.Code), dataOf(wire.Data), received(wire.Cause, 1)}
	return nil
}

// failureFunction makes a function of an OnFailure, triggered by the event of a run that has failed permanently.
func failureFunction(of *function, onFailure func(context.Context, FailureInput) (any, error)) (*function, error) {
	options := FunctionOpts{ID: of.id + "-failure", Name: of.name + " (failure)", Versioning: of.versioning}
	condition := fmt.Sprintf("event.data.function_id == '%s'", of.compositeID())
	on := EventTrigger(failedEvent, If(condition))
	f, err := define(of.appID, options, on, func(ctx context.Context, in Input[FailureData]) (any, error) {
		failure := in.Event.Data.Error
		failure.Name = firstOf(failure.Name, "Error")
		failure.Message = firstOf(failure.Message, "The error has no message")
		return onFailure(ctx, FailureInput{Input: in, Err: &failure})
	})
	if err == nil {
		f.middleware = of.middleware
	}
	return f, err
}
