// Package tidegatetest runs a function without a service:
//
//	result := tidegatetest.Run(t, thank, tidegatetest.Opts{
//		Event: tidegate.Event{Data: map[string]any{"orderId": "7"}},
//		Steps: map[string]any{"send receipt": "sent"},
//	})
package tidegatetest

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/internal/place"
	"github.com/tidegate/tidegate/clients/go/internal/replay"
	"github.com/tidegate/tidegate/clients/go/internal/run"
)

// Opts describe the environment of the run.
type Opts struct {
	// Event triggers the run: what Client.Send takes. Default: an event of the function's first trigger, without data.
	Event any
	// Events are for functions that take them in batches. Default: the one event.
	Events []any
	// Steps are stubs by step ID (id, id:1, …): the step is not run, and comes to this value, or to what this
	// func() (any, error) returns; an error, given or returned, fails it for good. For WaitForEvent: an event, or nil when
	// none comes in time. For WaitForSignal: the data of the signal, or nil. For Fetch: a step.Response.
	Steps map[string]any
	// Failures are errors by ID of a step that runs in the app: its first attempts fail with them, and its code does not run.
	// Then it is retried as usual.
	Failures map[string][]error
	// Now is when the run starts. Sleeps and time-outs take no time, but end in the order of their moments. Default: now.
	Now time.Time
	// Retries. Default: the function's own.
	Retries *int
	// Logger of the function. Default: a logger that says nothing.
	Logger *slog.Logger
}

// Step is a finished step.
type Step struct {
	// ID as in the code; the repeats of one are id:1, id:2, …
	ID string
	// Kind is run, transaction, sleep, waitForEvent, waitForSignal, invoke, fetch, infer, sendEvent, sendSignal or publish.
	Kind string
	// Data is the result of the step, as JSON.
	Data json.RawMessage
	// Err is nil unless it failed for good.
	Err *tidegate.StepError
	// Attempts that it took.
	Attempts int
	// EndedAt is by the clock of the run, which sleeps and timeouts advance.
	EndedAt time.Time
}

// Result is the result of a run.
type Result struct {
	// Output of the function, as JSON; nil when it failed.
	Output json.RawMessage
	// Err is the error with which the run failed after its retries.
	Err error
	// Steps in the order in which they were finished.
	Steps []Step
	// Sent are the events that steps would have sent.
	Sent []tidegate.Event
	// Signals that steps would have sent. No step waits for them.
	Signals []Signal
	// Published is what steps would have published.
	Published []Message
}

// Signal is a signal that a step would have sent.
type Signal struct {
	Name string
	Data any
}

// Message is a message that a step would have published.
type Message struct {
	Channel, Topic string
	Data           any
}

// Decode reads the output.
func (r *Result) Decode(into any) error { return json.Unmarshal(r.Output, into) }

// function is what a tidegate.ServableFunction can do beside.
type function interface {
	tidegate.ServableFunction
	ReplayForTest(ctx context.Context, body []byte, requestedStep string, logger *slog.Logger, service run.Service) (replay.Progress, error)
	FactsForTest() (retries int, event string)
	StepErrorForTest(stepID string, failure *replay.WireError) error
	DescribeForTest(error) *replay.WireError
	IsFinalForTest(error) bool
	PlacesForTest(runID string, event json.RawMessage) place.Run
	EncodeForTest(ctx context.Context, value json.RawMessage, at tidegate.At, where place.Place) (json.RawMessage, error)
	DecodeForTest(ctx context.Context, value json.RawMessage, at tidegate.At, where ...place.Place) (json.RawMessage, error)
	DecodeEventForTest(ctx context.Context, event json.RawMessage) (json.RawMessage, error)
}

// Run runs the function to its end, inside of its middleware. Its steps are run, unless they are stubbed; what fails is
// tried again, at once. A step.Transaction without a stub needs a database with the table tidegate_steps. Events and stubs are given, and results are told, as the code has them: between, they are encoded
// as the service would store them.
// Steps send nothing; Client.Send, in the function, does. The test fails when a step that invokes a function, makes a request
// or asks a model has no stub.
func Run(t testing.TB, fn tidegate.ServableFunction, options Opts) *Result {
	t.Helper()
	r, err := newRun(t.Context(), fn.(function), options)
	if err != nil {
		t.Fatalf("tidegatetest: %v", err)
	}
	if err := r.toItsEnd(t.Context()); err != nil {
		t.Fatalf("tidegatetest: %v", err)
	}
	return &r.result
}
