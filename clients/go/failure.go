package tidegate

import (
	"context"
	"encoding/json"
	"fmt"
)

// FailureData is what the service sends when a run has failed for good.
type FailureData struct {
	// FunctionID is <app ID>-<function ID>.
	FunctionID string   `json:"function_id"`
	RunID      string   `json:"run_id"`
	Error      RunError `json:"error"`
	// Event is the one that had triggered the run; Data of it is the JSON.
	Event GenericEvent[json.RawMessage] `json:"event"`
}

// FailureInput is what an OnFailure gets.
type FailureInput struct {
	Input[FailureData]
	// Err is what the run failed with.
	Err *RunError
}

// RunError is what a run has failed with.
type RunError struct {
	Name    string `json:"name"`
	Message string `json:"message"`
	Stack   string `json:"stack,omitempty"`
}

func (e *RunError) Error() string { return e.Message }

// failureFunction makes a function of an OnFailure, triggered by what the service sends when a run has failed for good.
func failureFunction(of *function, onFailure func(context.Context, FailureInput) (any, error)) (*function, error) {
	options := FunctionOpts{ID: of.id + "-failure", Name: of.name + " (failure)"}
	condition := fmt.Sprintf("event.data.function_id == '%s'", of.compositeID())
	on := EventTrigger("inngest/function.failed", If(condition))
	return define(of.appID, options, on, func(ctx context.Context, in Input[FailureData]) (any, error) {
		failure := in.Event.Data.Error
		failure.Name = firstOf(failure.Name, "Error")
		failure.Message = firstOf(failure.Message, "The error has no message")
		return onFailure(ctx, FailureInput{Input: in, Err: &failure})
	})
}
