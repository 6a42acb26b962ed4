package tidegate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/step"
	"github.com/tidegate/tidegate/clients/go/tidegatetest"
)

func TestAMiddlewareOfSteps(t *testing.T) {
	onStep := func(hook func(ctx context.Context, s *tidegate.StepCall, next func(context.Context) (any, error)) (any, error)) []tidegate.Middleware {
		return []tidegate.Middleware{{Name: "test", OnStep: hook}}
	}
	one := func(ctx context.Context, _ tidegate.Input[map[string]any]) (any, error) {
		return step.Run(ctx, "one", func(context.Context) (int, error) { return 1, nil })
	}

	t.Run("replaces the result", func(t *testing.T) {
		fn := mustCreate(t, onStep(func(ctx context.Context, _ *tidegate.StepCall, next func(context.Context) (any, error)) (any, error) {
			n, err := next(ctx)
			return n.(int) + 1, err
		}), nil, one)
		if result := tidegatetest.Run(t, fn, tidegatetest.Opts{}); string(result.Output) != "2" {
			t.Errorf("got %s %v", result.Output, result.Err)
		}
	})

	t.Run("fails the step by an error, which is retried", func(t *testing.T) {
		tries := 0
		fn := mustCreate(t, onStep(func(ctx context.Context, s *tidegate.StepCall, next func(context.Context) (any, error)) (any, error) {
			if tries++; s.Attempt == 0 {
				return nil, errors.New("not yet")
			}
			return next(ctx)
		}), nil, one)
		result := tidegatetest.Run(t, fn, tidegatetest.Opts{Retries: tidegate.Ptr(1)})
		if string(result.Output) != "1" || tries != 2 {
			t.Errorf("got %s %v after %d tries", result.Output, result.Err, tries)
		}
	})

	t.Run("is around each step that is stored while the call goes on", func(t *testing.T) {
		var log []string
		service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var body struct {
				Steps []struct {
					Data json.RawMessage `json:"data"`
				} `json:"steps"`
			}
			text, _ := io.ReadAll(r.Body)
			if json.Unmarshal(text, &body) == nil {
				log = append(log, fmt.Sprintf("stored %s", body.Steps[0].Data))
			}
			io.WriteString(w, "{}")
		}))
		defer service.Close()
		client := newClient(t, tidegate.ClientOpts{AppID: "shop", Dev: tidegate.Ptr(true), BaseURL: service.URL, Middleware: []tidegate.Middleware{noted("m", &log)}})
		fn, err := tidegate.CreateFunction(client, tidegate.FunctionOpts{ID: "fn"}, tidegate.EventTrigger("order/paid"),
			func(ctx context.Context, _ tidegate.Input[map[string]any]) (any, error) {
				a, err := step.Run(ctx, "a", func(context.Context) (int, error) { return 1, nil })
				if err != nil {
					return nil, err
				}
				return step.Run(ctx, "b", func(context.Context) (int, error) { return a + 1, nil })
			})
		if err != nil {
			t.Fatal(err)
		}
		a := wire(t, fn, client, `{"event":{"name":"order/paid","data":{"m":{}}},"ctx":{"run_id":"01R","qi_id":"q"}}`)
		expected := `m run shop/fn, m step a, m stepped: 1 <nil>, stored {"m":1}, m step b, m stepped: 2 <nil>, stored {"m":2}, m ran: 2 <nil>`
		if got := strings.Join(log, ", "); got != expected || string(a.Body) != `{"m":2}` {
			t.Errorf("got %s and %s", got, a.Body)
		}
	})
}

func TestAMiddlewareOfSends(t *testing.T) {
	var got []byte
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got, _ = io.ReadAll(r.Body)
		io.WriteString(w, `{"ids":["01JDCZ2K8M4T5V6W7X8Y9Z0A1B"],"status":200}`)
	}))
	defer service.Close()
	send := func(event any, middleware ...tidegate.Middleware) (string, error) {
		got = nil
		client := newClient(t, tidegate.ClientOpts{AppID: "shop", Dev: tidegate.Ptr(true), BaseURL: service.URL, Middleware: middleware})
		return client.Send(t.Context(), event)
	}

	t.Run("changes events, and keeps what it does not change", func(t *testing.T) {
		_, err := send(map[string]any{"name": "order/paid", "data": map[string]any{}, "more": json.Number("9007199254740993")}, tidegate.Middleware{
			Name: "test",
			OnSend: func(ctx context.Context, send *tidegate.SendCall, next func(context.Context) ([]string, error)) ([]string, error) {
				send.Events[0].User = map[string]any{"id": "ada"}
				return next(ctx)
			},
		})
		if err != nil || string(got) != `[{"data":{},"more":9007199254740993,"name":"order/paid","user":{"id":"ada"}}]` {
			t.Errorf("got %s %v", got, err)
		}
	})

	t.Run("may send nothing", func(t *testing.T) {
		_, err := send(tidegate.Event{Name: "order/paid"}, tidegate.Middleware{
			Name: "test",
			OnSend: func(context.Context, *tidegate.SendCall, func(context.Context) ([]string, error)) ([]string, error) {
				return nil, nil
			},
		})
		if err != nil || got != nil {
			t.Errorf("got %s %v", got, err)
		}
	})

	t.Run("fails the send by an error or a panic of its encoding", func(t *testing.T) {
		for _, encode := range []func(context.Context, json.RawMessage, tidegate.At) (json.RawMessage, error){
			func(context.Context, json.RawMessage, tidegate.At) (json.RawMessage, error) {
				return nil, errors.New("broken")
			},
			func(context.Context, json.RawMessage, tidegate.At) (json.RawMessage, error) { panic("broken") },
			func(context.Context, json.RawMessage, tidegate.At) (json.RawMessage, error) {
				return []byte("broken"), nil
			},
		} {
			_, err := send(tidegate.Event{Name: "order/paid"}, tidegate.Middleware{Name: "scrambler", Encode: encode})
			if err == nil || !(strings.Contains(err.Error(), "broken") || strings.Contains(err.Error(), `the middleware "scrambler" has made no JSON of the event`)) || got != nil {
				t.Errorf("got %s %v", got, err)
			}
		}
	})
}
