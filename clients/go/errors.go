package tidegate

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/tidegate/tidegate/clients/go/internal/pg"
	"github.com/tidegate/tidegate/clients/go/internal/replay"
	"github.com/tidegate/tidegate/clients/go/internal/timing"
)

// ConfigError: an option or variable is missing or invalid. The message names it and says how to set it.
type ConfigError struct{ Message string }

func (e *ConfigError) Error() string { return e.Message }

// SendError means that the service rejected the events, or could not be reached in any attempt. It wraps
// context.Canceled or context.DeadlineExceeded when the context ended the send.
type SendError struct {
	Message string
	// Status is the HTTP status of the last response; 0 if there was no response.
	Status int
	// Code is the service's error code, such as event_invalid; or the client's aborted, timeout, body_too_large.
	Code string
	// RequestID finds the request in the service's log.
	RequestID string
	// AcceptedIDs are the IDs of the events that were accepted, in a send that took several requests: the first ones.
	AcceptedIDs []string
	// Seed: sent again WithSeed, the same events are stored once, even if some had been accepted.
	Seed string

	cause error
}

func (e *SendError) Error() string { return e.Message }

func (e *SendError) Unwrap() error { return e.cause }

// NonRetriableError fails a run permanently if a handler returns it, or a step if the step returns it.
type NonRetriableError struct {
	Err error
	at  callers
}

// NonRetriable wraps an error so that it is not retried.
func NonRetriable(err error) error { return &NonRetriableError{Err: err, at: callersOf()} }

func (e *NonRetriableError) Error() string { return e.Err.Error() }

func (e *NonRetriableError) Unwrap() error { return e.Err }

// RetryAfterError chooses when a handler or a step that returns it is retried.
type RetryAfterError struct {
	Err   error
	Delay time.Duration
	at    callers
}

// RetryAfter wraps an error so that the handler or step that returns it is retried after the delay, rounded up to seconds.
func RetryAfter(err error, delay time.Duration) error {
	return &RetryAfterError{Err: err, Delay: delay, at: callersOf()}
}

func (e *RetryAfterError) Error() string { return e.Err.Error() }

func (e *RetryAfterError) Unwrap() error { return e.Err }

// StepError is a step that failed permanently, returned where it is called: handle it to continue the function.
// Returned by the handler, wrapped or not, it fails the run, because the step has used its retries.
type StepError struct {
	// StepID is numbered if it repeats.
	StepID string
	// Name, Message and Stack are those of the error with which the step failed.
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

// ServeError is a request to the app that fails before any function has run. It becomes the error response.
// It is also returned if the service rejects an app's signal, message or token, with the Status of the response.
type ServeError struct {
	Status  int
	Message string
	// Code is the service's error code, if it rejected the request.
	Code  string
	cause error
}

func (e *ServeError) Error() string { return e.Message }

func (e *ServeError) Unwrap() error { return e.cause }

// isNonRetriable is for errors of a step or a function.
func isNonRetriable(err error) bool {
	var nonRetriable *NonRetriableError
	var misuse *replay.Misuse
	var tooLarge *pg.OutputTooLarge
	return errors.As(err, &nonRetriable) || errors.As(err, &misuse) || errors.As(err, &tooLarge)
}

// isFinal is for errors of a function: the error of a failed step is final too.
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

// newStepError makes the error that a failed step returns in the code.
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
