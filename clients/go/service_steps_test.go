package tidegate_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/step"
)

type anyInput = tidegate.Input[map[string]any]

func TestARealServiceHandsOnSignals(t *testing.T) {
	each(t, func(t *testing.T, s realService) {
		signal := s.named("approval")
		waits := s.create(t, tidegate.FunctionOpts{ID: "waits"}, func(ctx context.Context, _ anyInput) (any, error) {
			return step.WaitForSignal[string](ctx, "w", step.WaitForSignalOpts{Signal: signal, Timeout: time.Minute})
		})
		sends := s.create(t, tidegate.FunctionOpts{ID: "sends"}, func(ctx context.Context, _ anyInput) (any, error) {
			runID, err := step.SendSignal(ctx, "g", signal, "yes")
			return runID != "", err
		})
		late := s.create(t, tidegate.FunctionOpts{ID: "late"}, func(ctx context.Context, _ anyInput) (any, error) {
			_, err := step.WaitForSignal[any](ctx, "w", step.WaitForSignalOpts{Signal: s.named("never"), Timeout: 50 * time.Millisecond})
			return errors.Is(err, step.ErrSignalNotReceived), nil
		})
		s.host(t, waits, sends, late)

		if got := s.run(t, "late", nil); string(got.Output) != "true" {
			t.Errorf("late: got %+v", got)
		}
		eventID, err := s.client.Send(t.Context(), tidegate.Event{Name: s.named("waits")})
		if err != nil {
			t.Fatal(err)
		}
		// Until it waits, nobody does.
		for string(s.run(t, "sends", nil).Output) != "true" {
			if t.Context().Err() != nil {
				t.Fatal("the run does not wait")
			}
		}
		if got := s.ended(t, eventID); string(got.Output) != `"yes"` {
			t.Errorf("waits: got %+v %s", got, got.Output)
		}
		if runID, err := s.client.SendSignal(t.Context(), signal, "yes"); runID != "" || err != nil {
			t.Errorf("afterwards: got %q, %v", runID, err)
		}
	})
}

func TestARealServiceMakesRequests(t *testing.T) {
	each(t, func(t *testing.T, s realService) {
		fetches := s.create(t, tidegate.FunctionOpts{ID: "fetches", Retries: tidegate.Ptr(0)}, func(ctx context.Context, _ anyInput) (any, error) {
			r, err := step.Fetch(ctx, "f", step.FetchOpts{URL: s.url + "/livez"})
			return r.Status, err
		})
		s.host(t, fetches)
		got := s.run(t, "fetches", nil)
		// In production the service refuses addresses of its own network.
		if string(got.Output) != "200" && got.Error.Name != "AddressBlocked" {
			t.Errorf("got %+v %s", got, got.Output)
		}
	})
}

func TestARealServicePublishes(t *testing.T) {
	each(t, func(t *testing.T, s realService) {
		publishes := s.create(t, tidegate.FunctionOpts{ID: "publishes"}, func(ctx context.Context, _ anyInput) (any, error) {
			return "done", step.Publish(ctx, "p", s.app, "status", map[string]int{"n": 7})
		})
		s.host(t, publishes)
		token, err := s.client.SubscriptionToken(t.Context(), s.app, "status")
		if err != nil {
			t.Fatal(err)
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/v1/realtime/sse?token="+url.QueryEscape(token), nil)
		if err != nil {
			t.Fatal(err)
		}
		stream, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Body.Close()
		if got := s.run(t, "publishes", nil); string(got.Output) != `"done"` {
			t.Errorf("got %+v", got)
		}
		text, buffer := "", make([]byte, 1_024)
		for !strings.Contains(text, `"n":7`) {
			n, err := stream.Body.Read(buffer)
			text += string(buffer[:n])
			if err != nil {
				t.Fatalf("%v after %s", err, text)
			}
		}
		if !strings.Contains(text, `"topic":"status"`) || !strings.Contains(text, `"run_id":"`) {
			t.Errorf("got %s", text)
		}
	})
}

func TestARealServiceEndsARaceWithTheFirst(t *testing.T) {
	each(t, func(t *testing.T, s realService) {
		races := s.create(t, tidegate.FunctionOpts{ID: "races"}, func(ctx context.Context, _ anyInput) (any, error) {
			return step.Race(ctx,
				func(ctx context.Context) (string, error) { return "late", step.Sleep(ctx, "hour", time.Hour) },
				func(ctx context.Context) (string, error) {
					return step.Run(ctx, "quick", func(context.Context) (string, error) { return "quick", nil })
				})
		})
		s.host(t, races)
		if got := s.run(t, "races", nil); string(got.Output) != `"quick"` {
			t.Errorf("got %+v %s", got, got.Output)
		}
	})
}

func TestARealServiceHandsOnWhatErrorsHave(t *testing.T) {
	each(t, func(t *testing.T, s realService) {
		failures := make(chan *tidegate.RunError, 1)
		fails := s.create(t, tidegate.FunctionOpts{
			ID: "fails",
			OnFailure: func(_ context.Context, in tidegate.FailureInput) (any, error) {
				failures <- in.Err
				return nil, nil
			},
		}, func(ctx context.Context, _ anyInput) (any, error) {
			return step.Run(ctx, "charge", func(context.Context) (any, error) {
				refused := tidegate.Detailed(errors.New("no money"), 402, map[string]int{"missing": 5})
				return nil, tidegate.NonRetriable(tidegate.Detailed(fmt.Errorf("card refused: %w", refused), "E_CARD", nil))
			})
		})
		s.host(t, fails)
		s.run(t, "fails", nil)
		select {
		case failure := <-failures:
			var cause *tidegate.CauseError
			if !errors.As(failure, &cause) || failure.Code != "E_CARD" || cause.Code != 402.0 || string(cause.Data) != `{"missing":5}` {
				t.Errorf("got %+v, %+v", failure, cause)
			}
		case <-time.After(20 * time.Second):
			t.Error("the failure handler was not called")
		}
	})
}
