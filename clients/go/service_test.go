package tidegate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/step"
)

// realService is a service of TEST_DEV_SERVICE or TEST_PRODUCTION_SERVICE.
type realService struct {
	client *tidegate.Client
	url    string
	app    string
}

// each runs a test on both services.
func each(t *testing.T, test func(t *testing.T, s realService)) {
	for _, mode := range []string{"dev", "production"} {
		t.Run("in "+mode+" mode", func(t *testing.T) {
			address, dev := os.Getenv("TEST_PRODUCTION_SERVICE"), mode == "dev"
			if dev {
				address = os.Getenv("TEST_DEV_SERVICE")
			}
			if address == "" {
				t.Skip("there is no service: TEST_DEV_SERVICE or TEST_PRODUCTION_SERVICE is not set")
			}
			options := tidegate.ClientOpts{AppID: fmt.Sprintf("go-%d", time.Now().UnixNano()), Dev: &dev, BaseURL: address}
			if !dev {
				options.EventKey, options.SigningKey = os.Getenv("TEST_EVENT_KEY"), os.Getenv("TEST_SIGNING_KEY")
			}
			test(t, realService{client: newClient(t, options), url: address, app: options.AppID})
		})
	}
}

// named is an event's name that no other test has.
func (s realService) named(name string) string { return s.app + "/" + name }

// host serves the functions and registers them.
func (s realService) host(t *testing.T, functions ...tidegate.ServableFunction) {
	t.Helper()
	var app http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { app.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	app = newApp(t, s.client, tidegate.ServeOpts{Path: "/api/service", Origin: server.URL}, functions...)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, server.URL+"/api/service", nil)
	if err != nil {
		t.Fatal(err)
	}
	if status, body := ask(t, request); status != 200 {
		t.Fatalf("not registered: %d %s", status, body)
	}
}

func ask(t *testing.T, request *http.Request) (int, []byte) {
	t.Helper()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, body
}

type runState struct {
	RunID  string          `json:"run_id"`
	Status string          `json:"status"`
	Output json.RawMessage `json:"output"`
	Error  struct {
		Name    string `json:"name"`
		Message string `json:"message"`
	} `json:"error"`
}

// ended is the run of an event once it has ended.
func (s realService) ended(t *testing.T, eventID string) runState {
	t.Helper()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	late := time.After(20 * time.Second)
	for {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/v1/events/"+eventID+"/runs", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("authorization", "Bearer "+os.Getenv("TEST_API_KEY"))
		_, body := ask(t, request)
		var found struct{ Data []runState }
		// Until the event is stored, the response is an error.
		if json.Unmarshal(body, &found) == nil && len(found.Data) > 0 && found.Data[0].Status != "Running" && found.Data[0].Status != "Queued" && found.Data[0].Status != "Scheduled" {
			return found.Data[0]
		}
		select {
		case <-again.C:
		case <-late:
			t.Fatalf("the run of %s has not ended: %s", eventID, body)
		}
	}
}

// create defines a function on an event of its own.
func (s realService) create(t *testing.T, options tidegate.FunctionOpts, handler tidegate.Handler[map[string]any]) tidegate.ServableFunction {
	t.Helper()
	fn, err := tidegate.CreateFunction(s.client, options, tidegate.EventTrigger(s.named(options.ID)), handler)
	if err != nil {
		t.Fatal(err)
	}
	return fn
}

// run sends the event of a function and returns the result of its run.
func (s realService) run(t *testing.T, id string, data map[string]any) runState {
	t.Helper()
	eventID, err := s.client.Send(t.Context(), tidegate.Event{Name: s.named(id), Data: data})
	if err != nil {
		t.Fatal(err)
	}
	return s.ended(t, eventID)
}

func TestARealServiceRunsFunctions(t *testing.T) {
	each(t, func(t *testing.T, s realService) {
		failures := make(chan string, 1)
		double := s.create(t, tidegate.FunctionOpts{ID: "double"}, func(_ context.Context, in tidegate.Input[map[string]any]) (any, error) {
			return in.Event.Data["n"].(float64) * 2, nil
		})
		every := s.create(t, tidegate.FunctionOpts{ID: "every"}, func(ctx context.Context, in tidegate.Input[map[string]any]) (any, error) {
			first, err := step.Run(ctx, "first", func(context.Context) (float64, error) { return in.Event.Data["n"].(float64) + 1, nil })
			if err != nil {
				return nil, err
			}
			if err := step.Sleep(ctx, "nap", 50*time.Millisecond); err != nil {
				return nil, err
			}
			both, err := step.All(ctx,
				func(ctx context.Context) (float64, error) {
					return step.Invoke[float64](ctx, "double", step.InvokeOpts{Function: double, Data: map[string]any{"n": first}})
				},
				func(ctx context.Context) (float64, error) {
					return step.Run(ctx, "beside", func(context.Context) (float64, error) { return 100, nil })
				})
			if err != nil {
				return nil, err
			}
			_, err = step.WaitForEvent[any](ctx, "never", step.WaitForEventOpts{Event: s.named("never"), Timeout: 50 * time.Millisecond})
			if !errors.Is(err, step.ErrEventNotReceived) {
				return nil, fmt.Errorf("got %w", err)
			}
			sent, err := step.SendEvent(ctx, "send", tidegate.Event{Name: s.named("nobody")})
			return map[string]any{"both": both, "sent": sent != ""}, err
		})
		flaky := s.create(t, tidegate.FunctionOpts{ID: "flaky"}, func(ctx context.Context, in tidegate.Input[map[string]any]) (any, error) {
			return step.Run(ctx, "flaky", func(context.Context) (int, error) {
				if in.Attempt < 2 {
					return 0, errors.New("not yet")
				}
				return in.Attempt, nil
			})
		})
		hopeless := s.create(t, tidegate.FunctionOpts{
			ID: "hopeless",
			OnFailure: func(_ context.Context, in tidegate.FailureInput) (any, error) {
				failures <- in.Err.Name + " " + in.Err.Message + " " + string(in.Input.Event.Data.Event.Data)
				return nil, nil
			},
		}, func(context.Context, tidegate.Input[map[string]any]) (any, error) {
			return nil, tidegate.NonRetriable(errors.New("hopeless indeed"))
		})
		s.host(t, double, every, flaky, hopeless)

		if got := s.run(t, "every", map[string]any{"n": 3}); got.Status != "Completed" || string(got.Output) != `{"both":[8,100],"sent":true}` {
			t.Errorf("every: got %+v %s", got, got.Output)
		}
		if got := s.run(t, "flaky", nil); got.Status != "Completed" || string(got.Output) != "2" {
			t.Errorf("flaky: got %+v %s", got, got.Output)
		}
		if got := s.run(t, "hopeless", map[string]any{"n": 1}); got.Status != "Failed" || got.Error.Message != "hopeless indeed" {
			t.Errorf("hopeless: got %+v", got)
		}
		select {
		case failure := <-failures:
			if failure != `NonRetriableError hopeless indeed {"n":1}` {
				t.Errorf("got %s", failure)
			}
		case <-time.After(20 * time.Second):
			t.Error("the failure handler was not called")
		}
	})
}

func TestARealServiceStoresTheSameSendOnce(t *testing.T) {
	each(t, func(t *testing.T, s realService) {
		seed := fmt.Sprintf("%d,ABEiM0RVZneImQ==", time.Now().UnixMilli())
		events := []any{tidegate.Event{Name: s.named("a")}, tidegate.Event{Name: s.named("b")}}
		first, err := s.client.SendMany(t.Context(), events, tidegate.WithSeed(seed))
		if err != nil {
			t.Fatal(err)
		}
		second, err := s.client.SendMany(t.Context(), events, tidegate.WithSeed(seed))
		if err != nil || fmt.Sprint(first) != fmt.Sprint(second) || len(first) != 2 {
			t.Errorf("got %v, then %v, %v", first, second, err)
		}
	})
}
