package tidegate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
)

// startService plays a service, and gives a client of it.
func startService(t *testing.T, handler http.HandlerFunc) *tidegate.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A server sees its client go only once the body is read.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		handler(w, r)
	}))
	t.Cleanup(server.Close)
	return newClient(t, tidegate.ClientOpts{AppID: "shop", BaseURL: server.URL, EventKey: "secret-key"})
}

func newClient(t *testing.T, options tidegate.ClientOpts) *tidegate.Client {
	t.Helper()
	client, err := tidegate.NewClient(options)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

var paid = tidegate.Event{Name: "order/paid", Data: map[string]any{"total": 3}}

func sendErrorOf(t *testing.T, err error) *tidegate.SendError {
	t.Helper()
	var send *tidegate.SendError
	if !errors.As(err, &send) {
		t.Fatalf("got %v, want a SendError", err)
	}
	return send
}

func TestTheContextEndsASend(t *testing.T) {
	t.Run("while the service is asked", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		client := startService(t, func(_ http.ResponseWriter, r *http.Request) {
			cancel()
			<-r.Context().Done()
		})
		_, err := client.Send(ctx, paid)
		send := sendErrorOf(t, err)
		if !errors.Is(err, context.Canceled) || send.Code != "aborted" || send.Status != 0 || send.Seed == "" {
			t.Errorf("got %+v", send)
		}
	})

	t.Run("while it waits to try again: the error tells of the last try", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		client := startService(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("retry-after", "30")
			w.Header().Set("x-request-id", "req-1")
			w.WriteHeader(503)
			time.AfterFunc(0, func() { cancel(errStopping) })
		})
		began := time.Now()
		_, err := client.Send(ctx, paid)
		send := sendErrorOf(t, err)
		if !errors.Is(err, context.Canceled) || !errors.Is(err, errStopping) || time.Since(began) > 10*time.Second {
			t.Errorf("got %v after %s", err, time.Since(began))
		}
		// The end may come before the response has been read.
		if send.Status == 503 && (send.RequestID != "req-1" || send.Message != "The send was aborted. Until then: The service answered 503") {
			t.Errorf("got %+v", send)
		}
	})

	t.Run("by its deadline", func(t *testing.T) {
		client := startService(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		_, err := client.Send(ctx, paid)
		if send := sendErrorOf(t, err); !errors.Is(err, context.DeadlineExceeded) || send.Code != "timeout" {
			t.Errorf("got %+v", send)
		}
	})

	t.Run("before it begins", func(t *testing.T) {
		client := startService(t, func(http.ResponseWriter, *http.Request) { t.Error("the service was asked") })
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := client.Send(ctx, paid); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})

	t.Run("between two requests of it: the error has the IDs of the first", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		requests := 0
		client := startService(t, func(w http.ResponseWriter, r *http.Request) {
			requests++
			if requests == 1 {
				io.WriteString(w, `{"ids":["01A"],"status":200}`)
				return
			}
			cancel()
			<-r.Context().Done()
		})
		half := strings.Repeat("x", 300_000)
		event := tidegate.Event{Name: "big", Data: map[string]any{"text": half}}
		_, err := client.SendMany(ctx, []any{event, event})
		send := sendErrorOf(t, err)
		if !errors.Is(err, context.Canceled) || len(send.AcceptedIDs) != 1 || send.AcceptedIDs[0] != "01A" {
			t.Errorf("got %+v", send)
		}
	})
}

var errStopping = errors.New("the process is stopping")

func TestASecretIsNeverInAnError(t *testing.T) {
	for _, base := range []string{"http://127.0.0.1:1", "http://[::1]:namedport"} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		client := newClient(t, tidegate.ClientOpts{AppID: "shop", BaseURL: base, EventKey: "secret-key"})
		_, err := client.Send(ctx, paid)
		cancel()
		for ; err != nil; err = errors.Unwrap(err) {
			if strings.Contains(err.Error(), "secret-key") {
				t.Error(err)
			}
		}
	}
}

func TestEventsAsTheyAreSent(t *testing.T) {
	type orderPaid struct {
		Total int       `json:"total"`
		At    time.Time `json:"at"`
	}
	type own struct {
		Name string   `json:"name"`
		Data struct{} `json:"data"`
	}
	for name, c := range map[string]struct {
		event any
		body  string
	}{
		"an Event":                  {paid, `[{"name":"order/paid","data":{"total":3}}]`},
		"a pointer to one":          {&paid, `[{"name":"order/paid","data":{"total":3}}]`},
		"an Event without data":     {tidegate.Event{Name: "x"}, `[{"name":"x","data":{}}]`},
		"with all that it may have": {tidegate.Event{Name: "x", ID: tidegate.Ptr("i"), Timestamp: 7, User: map[string]any{"id": 1}, V: "2"}, `[{"name":"x","data":{},"id":"i","ts":7,"user":{"id":1},"v":"2"}]`},
		"an event of typed data":    {tidegate.GenericEvent[orderPaid]{Name: "x", Data: orderPaid{Total: 1}}, `[{"name":"x","data":{"total":1,"at":"0001-01-01T00:00:00Z"}}]`},
		"a type of its own":         {own{Name: "x"}, `[{"name":"x","data":{}}]`},
		"a map":                     {map[string]any{"name": "x", "data": map[string]any{}}, `[{"data":{},"name":"x"}]`},
		"what matters in HTML only": {tidegate.Event{Name: "<&>"}, `[{"name":"<&>","data":{}}]`},
		"large numbers":             {tidegate.Event{Name: "x", Data: map[string]any{"n": uint64(1<<63 + 1), "m": json.Number("1.0")}}, `[{"name":"x","data":{"m":1.0,"n":9223372036854775809}}]`},
	} {
		t.Run(name, func(t *testing.T) {
			client := startService(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if string(body) != c.body {
					t.Errorf("got %s, want %s", body, c.body)
				}
				io.WriteString(w, `{"ids":["01A"],"status":200}`)
			})
			if id, err := client.Send(t.Context(), c.event); id != "01A" || err != nil {
				t.Errorf("got %q, %v", id, err)
			}
		})
	}

	t.Run("what is no event is refused here", func(t *testing.T) {
		client := startService(t, func(http.ResponseWriter, *http.Request) { t.Error("the service was asked") })
		for _, event := range []any{nil, "text", []any{paid}, (*tidegate.Event)(nil), tidegate.Event{Data: map[string]any{"f": func() {}}}} {
			if _, err := client.Send(t.Context(), event); err == nil {
				t.Errorf("%v was sent", event)
			}
		}
		if _, err := client.Send(t.Context(), paid, tidegate.WithSeed("none")); err == nil {
			t.Error("sent under a seed that is none")
		}
	})
}

func TestAClientIsForManyGoroutines(t *testing.T) {
	client := startService(t, func(w http.ResponseWriter, r *http.Request) {
		var events []tidegate.Event
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, &events); err != nil {
			t.Error(err)
		}
		fmt.Fprintf(w, `{"ids":[%q]}`, events[0].Name)
	})
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			name := fmt.Sprint("event ", i)
			if id, err := client.Send(t.Context(), tidegate.Event{Name: name}); id != name || err != nil {
				t.Errorf("got %q, %v", id, err)
			}
		})
	}
	all.Wait()
}

func TestOnlyAMissingAppIDFailsMakingAClient(t *testing.T) {
	if _, err := tidegate.NewClient(tidegate.ClientOpts{}); err == nil || !strings.Contains(err.Error(), "AppID") {
		t.Errorf("got %v", err)
	}
	t.Setenv("SERVICE_DEV", "nonsense")
	client := newClient(t, tidegate.ClientOpts{AppID: "shop"})
	var config *tidegate.ConfigError
	if _, err := client.Send(t.Context(), paid); !errors.As(err, &config) {
		t.Errorf("got %v", err)
	}
}
