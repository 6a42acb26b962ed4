package tidegate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"runtime"
	"strings"
	"testing"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/step"
)

// chargeID is the hashed ID of the step "charge".
const chargeID = "5ea9c348e59fe73a4b15cb287e33e4546dcef782"

type sentSource struct {
	File  string
	Line  int
	Lines []struct {
		Line int
		Text string
	}
}

type sentError struct {
	Name    string
	Message string
	Stack   string
	Source  *sentSource
}

// frames is the stack of an error, as github.com/pkg/errors has it.
type frames []frame

type frame uintptr

type tracedError struct{ frames frames }

func (tracedError) Error() string          { return "traced" }
func (e tracedError) StackTrace() frames   { return e.frames }
func (calledError) Error() string          { return "called" }
func (e calledError) Callers() []uintptr   { return e.at }
func (brokenTrace) Error() string          { return "broken" }
func (brokenTrace) StackTrace() frames     { panic("no") }
func (nothingTraced) Error() string        { return "nothing" }
func (nothingTraced) StackTrace(n int) int { return n }

type (
	calledError   struct{ at []uintptr }
	brokenTrace   struct{}
	nothingTraced struct{}
)

func traced() error {
	at := make([]uintptr, 10)
	at = at[:runtime.Callers(1, at)] // traced
	found := make(frames, len(at))
	for i, pc := range at {
		found[i] = frame(pc)
	}
	return fmt.Errorf("outer: %w", tracedError{found})
}

func called() error {
	at := make([]uintptr, 10)
	return calledError{at[:runtime.Callers(1, at)]} // called
}

func panics() error {
	panic("no card") // panics
}

func panicsInLibrary() error {
	return json.Unmarshal([]byte(`{}`), &panicky{}) // panics in library
}

type panicky struct{}

func (*panicky) UnmarshalJSON([]byte) error {
	reflect.ValueOf(1).Elem() // in reflect
	return nil
}

var sourceCases = map[string]struct {
	fail func() error
	line string
}{
	"a panic":                          {panics, `	panic("no card") // panics`},
	"a panic in the standard library":  {panicsInLibrary, "	reflect.ValueOf(1).Elem() // in reflect"},
	"NonRetriable":                     {func() error { return tidegate.NonRetriable(errors.New("no")) /* final */ }, "final"},
	"RetryAfter, wrapped":              {func() error { return fmt.Errorf("x: %w", tidegate.RetryAfter(errors.New("no"), 1)) /* later */ }, "later"},
	"Detailed":                         {func() error { return tidegate.Detailed(errors.New("no"), 7, nil) /* detailed */ }, "detailed"},
	"an error with a stack":            {traced, "	at = at[:runtime.Callers(1, at)] // traced"},
	"an error with callers":            {called, "	return calledError{at[:runtime.Callers(1, at)]} // called"},
	"the innermost error with a stack": {func() error { return tidegate.NonRetriable(called()) }, "// called"},
	"a plain error":                    {func() error { return errors.New("no") }, ""},
	"a stack that cannot be read":      {func() error { return brokenTrace{} }, ""},
	"a method of another shape":        {func() error { return nothingTraced{} }, ""},
}

func TestErrorsAreSentWithTheLineWhereTheyCameAbout(t *testing.T) {
	for title, c := range sourceCases {
		for _, inStep := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, in a step: %v", title, inStep), func(t *testing.T) {
				source := callFailing(t, tidegate.ClientOpts{}, inStep, c.fail).Source
				if c.line == "" {
					if source != nil {
						t.Fatalf("got %+v", source)
					}
					return
				}
				checkSource(t, source, c.line)
			})
		}
	}
}

func TestAStepThatFailedForGoodFailsTheRunWithItsOwnStackAndSource(t *testing.T) {
	for title, c := range sourceCases {
		t.Run(title, func(t *testing.T) {
			own := callFailing(t, tidegate.ClientOpts{}, true, c.fail)
			if c.line != "" && own.Stack == "" {
				t.Fatalf("the step's error has no stack: %+v", own)
			}
			error := map[string]any{"name": own.Name, "message": own.Message, "stack": own.Stack}
			steps, err := json.Marshal(map[string]any{chargeID: map[string]any{"error": error}})
			if err != nil {
				t.Fatal(err)
			}
			failed := callWithSteps(t, tidegate.ClientOpts{}, true, c.fail, string(steps))
			if failed.Stack != own.Stack || !reflect.DeepEqual(failed.Source, own.Source) {
				t.Errorf("the step: %+v\nthe run: %+v", own, failed)
			}
		})
	}
}

func TestErrorsAreSentWithoutSourceWhenTheClientIsToldSo(t *testing.T) {
	if failed := callFailing(t, tidegate.ClientOpts{ErrorSource: tidegate.Ptr(false)}, false, panics); failed.Source != nil {
		t.Errorf("got %+v", failed.Source)
	}
	t.Setenv("SERVICE_ERROR_SOURCE", "0")
	if failed := callFailing(t, tidegate.ClientOpts{}, true, panics); failed.Source != nil {
		t.Errorf("got %+v", failed.Source)
	}
}

func checkSource(t *testing.T, source *sentSource, line string) {
	t.Helper()
	if source == nil || source.File != "error_source_test.go" || len(source.Lines) != 5 {
		t.Fatalf("got %+v", source)
	}
	if middle := source.Lines[2]; middle.Line != source.Line || !strings.Contains(middle.Text, line) {
		t.Errorf("got %+v", source)
	}
}

// callFailing is the error of a call of a function, or of its step, as it is sent.
func callFailing(t *testing.T, options tidegate.ClientOpts, inStep bool, fail func() error) sentError {
	t.Helper()
	return callWithSteps(t, options, inStep, fail, "{}")
}

// callWithSteps is the same with these memos. A function whose step has failed answers with the error of the run.
func callWithSteps(t *testing.T, options tidegate.ClientOpts, inStep bool, fail func() error, steps string) sentError {
	t.Helper()
	options.AppID, options.Dev = "shop", tidegate.Ptr(true)
	client := newClient(t, options)
	run := func(ctx context.Context, _ tidegate.Input[map[string]any]) (any, error) {
		if inStep {
			return step.Run(ctx, "charge", func(context.Context) (any, error) { return nil, fail() })
		}
		return nil, fail()
	}
	fn, err := tidegate.CreateFunction(client, tidegate.FunctionOpts{ID: "fn"}, tidegate.EventTrigger("order/paid"), run)
	if err != nil {
		t.Fatal(err)
	}
	body := `{"event":{"name":"order/paid","data":{}},"steps":` + steps + `,"ctx":{"run_id":"01RUN","stack":{"stack":[]}}}`
	request := tidegate.AppRequest{Method: http.MethodPost, URL: "/?fnId=shop-fn", Body: body}
	answer := newApp(t, client, tidegate.ServeOpts{}, fn).Answer(t.Context(), request)
	var failed sentError
	if inStep && steps == "{}" {
		var ops []struct{ Error sentError }
		if err := json.Unmarshal(answer.Body, &ops); err != nil || len(ops) != 1 {
			t.Fatalf("got %s", answer.Body)
		}
		failed = ops[0].Error
	} else if err := json.Unmarshal(answer.Body, &failed); err != nil {
		t.Fatalf("got %s", answer.Body)
	}
	if failed.Message == "" {
		t.Fatalf("got %s", answer.Body)
	}
	return failed
}
