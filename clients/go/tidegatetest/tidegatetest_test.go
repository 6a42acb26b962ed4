package tidegatetest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/step"
	"github.com/tidegate/tidegate/clients/go/tidegatetest"
)

type input = tidegate.Input[map[string]any]

func function(t *testing.T, handler tidegate.Handler[map[string]any]) tidegate.ServableFunction {
	t.Helper()
	client, err := tidegate.NewClient(tidegate.ClientOpts{AppID: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	fn, err := tidegate.CreateFunction(client, tidegate.FunctionOpts{ID: "fn"}, tidegate.EventTrigger("order/paid"), handler)
	if err != nil {
		t.Fatal(err)
	}
	return fn
}

func summary(result *tidegatetest.Result) string {
	text := ""
	for _, s := range result.Steps {
		text += fmt.Sprintf("%s %s %s", s.Kind, s.ID, s.Data)
		if s.Err != nil {
			text += s.Err.Name + ": " + s.Err.Message
		}
		text += "; "
	}
	return text
}

func TestARunGoesToItsEnd(t *testing.T) {
	fn := function(t, func(ctx context.Context, in input) (any, error) {
		n, err := step.Run(ctx, "count", func(context.Context) (int, error) { return len(in.Events), nil })
		if err != nil {
			return nil, err
		}
		if err := step.Sleep(ctx, "nap", 365*24*time.Hour); err != nil {
			return nil, err
		}
		if _, err := step.SendEvent(ctx, "send", tidegate.Event{Name: "order/thanked", Data: map[string]any{"n": n}}); err != nil {
			return nil, err
		}
		other, err := step.Invoke[string](ctx, "ask", step.InvokeOpts{FunctionID: "shop-other"})
		if err != nil {
			return nil, err
		}
		_, err = step.WaitForEvent[any](ctx, "return", step.WaitForEventOpts{Event: "order/returned", Timeout: time.Hour})
		return fmt.Sprint(in.Event.Name, " ", other, " ", errors.Is(err, step.ErrEventNotReceived)), nil
	})
	result := tidegatetest.Run(t, fn, tidegatetest.Opts{Steps: map[string]any{"ask": "answer"}})
	var output string
	if err := result.Decode(&output); err != nil || output != "order/paid answer true" {
		t.Errorf("got %q, %v, %v", output, err, result.Err)
	}
	want := `run count 1; sleep nap null; sendEvent send {"ids":["test-event-1"]}; invoke ask "answer"; waitForEvent return null; `
	if got := summary(result); got != want {
		t.Errorf("got %s", got)
	}
	if len(result.Sent) != 1 || result.Sent[0].Name != "order/thanked" {
		t.Errorf("got %+v", result.Sent)
	}
}

func TestStubs(t *testing.T) {
	fn := function(t, func(ctx context.Context, _ input) (any, error) {
		event, err := step.WaitForEvent[map[string]string](ctx, "return", step.WaitForEventOpts{Event: "order/returned", Timeout: time.Hour})
		if err != nil {
			return nil, err
		}
		_, err = step.Run(ctx, "charge", func(context.Context) (any, error) { t.Error("run"); return nil, nil })
		return event.Name + " " + event.Data["orderId"], err
	})
	arrives := tidegate.Event{Data: map[string]any{"orderId": "7"}}
	t.Run("are values, functions, or errors", func(t *testing.T) {
		result := tidegatetest.Run(t, fn, tidegatetest.Opts{Steps: map[string]any{
			"return": arrives,
			"charge": func() (any, error) { return 1, nil },
		}})
		if string(result.Output) != `"order/returned 7"` {
			t.Errorf("got %s, %v", result.Output, result.Err)
		}
	})
	t.Run("an error fails the step for good", func(t *testing.T) {
		result := tidegatetest.Run(t, fn, tidegatetest.Opts{Steps: map[string]any{"return": arrives, "charge": errors.New("declined")}})
		var failure *tidegate.StepError
		if !errors.As(result.Err, &failure) || failure.Message != "declined" || result.Steps[1].Err == nil {
			t.Errorf("got %v, %s", result.Err, summary(result))
		}
	})
}

func TestGivenErrorsFailTheFirstAttemptsOfAStep(t *testing.T) {
	fn := function(t, func(ctx context.Context, _ input) (any, error) {
		charged, err := step.Run(ctx, "charge", func(context.Context) (string, error) { return "ch_1", nil })
		var failure *tidegate.StepError
		if errors.As(err, &failure) {
			return failure.Message, nil
		}
		return charged, err
	})
	busy := errors.New("busy")
	for name, c := range map[string]struct {
		errors   []error
		output   string
		attempts int
	}{
		"they are retried":       {[]error{busy, busy}, `"ch_1"`, 3},
		"too many fail the step": {[]error{busy, busy, busy}, `"busy"`, 3},
		"some are not retriable": {[]error{tidegate.NonRetriable(errors.New("declined"))}, `"declined"`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			options := tidegatetest.Opts{Retries: tidegate.Ptr(2), Failures: map[string][]error{"charge": c.errors}}
			result := tidegatetest.Run(t, fn, options)
			if string(result.Output) != c.output || result.Steps[0].Attempts != c.attempts {
				t.Errorf("got %s after %d attempts, %v", result.Output, result.Steps[0].Attempts, result.Err)
			}
		})
	}
}

func TestARunHasAClockThatSleepsAdvance(t *testing.T) {
	fn := function(t, func(ctx context.Context, _ input) (any, error) {
		if err := step.Sleep(ctx, "nap", 3*24*time.Hour); err != nil {
			return nil, err
		}
		return step.Run(ctx, "after", func(context.Context) (any, error) { return nil, nil })
	})
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, done := range tidegatetest.Run(t, fn, tidegatetest.Opts{Now: start}).Steps {
		if want := start.AddDate(0, 0, 3); !done.EndedAt.Equal(want) {
			t.Errorf("%s ended at %s instead of %s", done.ID, done.EndedAt, want)
		}
	}
}

func TestWhatFailsIsTriedAgain(t *testing.T) {
	tries := 0
	fn := function(t, func(ctx context.Context, in input) (any, error) {
		_, err := step.Run(ctx, "flaky", func(context.Context) (any, error) {
			tries++
			if in.Attempt < 2 {
				return nil, errors.New("not yet")
			}
			return nil, nil
		})
		if err == nil && in.Attempt < 1 {
			return nil, errors.New("nor yet")
		}
		return in.Attempt, err
	})
	if result := tidegatetest.Run(t, fn, tidegatetest.Opts{}); string(result.Output) != "1" || tries != 3 {
		t.Errorf("got %s, %v after %d tries", result.Output, result.Err, tries)
	}
	cause := errors.New("always")
	fn = function(t, func(context.Context, input) (any, error) { return nil, cause })
	if result := tidegatetest.Run(t, fn, tidegatetest.Opts{Retries: tidegate.Ptr(1)}); !errors.Is(result.Err, cause) {
		t.Errorf("got %v", result.Err)
	}
}

func TestSleepsEndInTheOrderOfTheirMoments(t *testing.T) {
	fn := function(t, func(ctx context.Context, _ input) (any, error) {
		return nil, step.Parallel(ctx,
			func(ctx context.Context) error { return step.Sleep(ctx, "long", time.Hour) },
			func(ctx context.Context) error { return step.Sleep(ctx, "short", time.Minute) },
			func(ctx context.Context) error {
				return step.SleepUntil(ctx, "until", time.Date(2030, 1, 1, 0, 30, 0, 0, time.UTC))
			})
	})
	result := tidegatetest.Run(t, fn, tidegatetest.Opts{Now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)})
	if got := summary(result); got != "sleep short null; sleep until null; sleep long null; " {
		t.Errorf("got %s", got)
	}
}

func TestWhatOnlyAServiceCouldDo(t *testing.T) {
	fn := function(t, func(ctx context.Context, _ input) (any, error) {
		if _, err := step.SendSignal(ctx, "tell", "ready/7", 7); err != nil {
			return nil, err
		}
		if err := step.Publish(ctx, "show", "thread:7", "status", "ready"); err != nil {
			return nil, err
		}
		by, err := step.WaitForSignal[string](ctx, "approval", step.WaitForSignalOpts{Signal: "approval/7", Timeout: time.Hour})
		if err != nil {
			return nil, err
		}
		_, err = step.WaitForSignal[string](ctx, "second", step.WaitForSignalOpts{Signal: "second/7", Timeout: time.Hour})
		late := errors.Is(err, step.ErrSignalNotReceived)
		response, err := step.Fetch(ctx, "rates", step.FetchOpts{URL: "https://api.example.com/rates"})
		if err != nil {
			return nil, err
		}
		answer, err := step.Infer[string](ctx, "ask", step.InferOpts{URL: "https://api.example.com", Format: "other", Body: 1})
		return fmt.Sprint(by, " ", late, " ", response.Status, string(response.Body), " ", answer), err
	})
	result := tidegatetest.Run(t, fn, tidegatetest.Opts{Steps: map[string]any{
		"approval": "ada",
		"rates":    step.Response{Status: 200, Body: []byte("ok")},
		"ask":      "yes",
	}})
	if got := string(result.Output); got != `"ada true 200ok yes"` {
		t.Errorf("got %s, %v", got, result.Err)
	}
	kinds := ""
	for _, done := range result.Steps {
		kinds += done.Kind + " "
	}
	if kinds != "sendSignal publish waitForSignal waitForSignal fetch infer " {
		t.Errorf("got %s", kinds)
	}
	if got := fmt.Sprint(result.Signals, result.Published); got != "[{ready/7 7}] [{thread:7 status ready}]" {
		t.Errorf("got %s", got)
	}
}
