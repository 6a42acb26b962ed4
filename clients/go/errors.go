package tidegate

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/tidegate/tidegate/clients/go/internal/replay"
	"github.com/tidegate/tidegate/clients/go/internal/timing"
)

// ConfigError is an option or variable that is missing or makes no sense. The message names it and says how to set it.
type ConfigError struct{ Message string }

func (e *ConfigError) Error() string { return e.Message }

// SendError means that the service refused the events, or could not be reached in any of the tries. It wraps
// context.Canceled or context.DeadlineExceeded when the context ended the send.
type SendError struct {
	Message string
	// Status is the HTTP status of the last answer; 0 when there was none.
	Status int
	// Code is the service's error code, such as event_invalid; or aborted, timeout, body_too_large from here.
	Code string
	// RequestID finds the request in the service's log.
	RequestID string
	// AcceptedIDs are, of a send that took several requests, the IDs of the events accepted: the first ones of it.
	AcceptedIDs []string
	// Seed stores none of the events twice, whatever had arrived, when they are sent again WithSeed.
	Seed string

	cause error
}

func (e *SendError) Error() string { return e.Message }

func (e *SendError) Unwrap() error { return e.cause }

// NonRetriableError fails a run for good when a handler returns it, or a step: no retry would help.
type NonRetriableError struct {
	Err error
	at  callers
}

// NonRetriable makes the error one that no retry would help against.
func NonRetriable(err error) error { return &NonRetriableError{Err: err, at: callersOf()} }

func (e *NonRetriableError) Error() string { return e.Err.Error() }

func (e *NonRetriableError) Unwrap() error { return e.Err }

// RetryAfterError chooses when a handler or a step that returns it is tried again.
type RetryAfterError struct {
	Err   error
	Delay time.Duration
	at    callers
}

// RetryAfter has what returns the error tried again once the delay, rounded up to seconds, is over.
func RetryAfter(err error, delay time.Duration) error {
	return &RetryAfterError{Err: err, Delay: delay, at: callersOf()}
}

func (e *RetryAfterError) Error() string { return e.Err.Error() }

func (e *RetryAfterError) Unwrap() error { return e.Err }

// StepError is a step that has failed for good, returned where it is called: handle it, and the function goes on.
// Returned by the handler, wrapped or not, it fails the run: the step has had its retries.
type StepError struct {
	// StepID is numbered when it repeats.
	StepID string
	// Name, Message and Stack are of what the step failed with.
	Name    string
	Message string
	Stack   string
	// Code is a string or a float64; nil: there is none.
	Code any
	// Data is JSON; nil: there is none.
	Data json.RawMessage
	// Cause is a *CauseError; nil: there is none.
	Cause error
}

func (e *StepError) Error() string { return e.Message }

func (e *StepError) Unwrap() error { return e.Cause }

// ServeError is a request to the app that ends in an error answer before any function ran. It becomes that answer.
// It is also what the service has refused to an app: a signal, a message or a token, with the Status of its answer.
type ServeError struct {
	Status  int
	Message string
	// Code is the service's error code, where it has refused something.
	Code  string
	cause error
}

func (e *ServeError) Error() string { return e.Message }

func (e *ServeError) Unwrap() error { return e.cause }

// isNonRetriable is of errors of a step or a function.
func isNonRetriable(err error) bool {
	var nonRetriable *NonRetriableError
	var misuse *replay.Misuse
	return errors.As(err, &nonRetriable) || errors.As(err, &misuse)
}

// isFinal is of errors of a function: the error of a failed step is final too.
func isFinal(err error) bool {
	var step *StepError
	return isNonRetriable(err) || errors.As(err, &step)
}

func retryAfterSeconds(err error) *int64 {
	var retryAfter *RetryAfterError
	if !errors.As(err, &retryAfter) {
		return nil
	}
	return Ptr(max(0, timing.CeilTo(retryAfter.Delay, time.Second)))
}

// newStepError is what a failed step returns in the code.
func newStepError(stepID string, failure *replay.WireError) error {
	name, message := failure.Name, failure.Message
	if name == "" {
		name = "StepError"
	}
	if message == "" {
		message = fmt.Sprintf("The step %q failed", stepID)
	}
	return &StepError{
		StepID:  stepID,
		Name:    name,
		Message: message,
		Stack:   failure.Stack,
		Code:    codeOf(failure.Code),
		Data:    dataOf(failure.Data),
		Cause:   received(failure.Cause, 1),
	}
}
