package tidegate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/step"
)

// threeSteps counts its calls.
func threeSteps(calls *atomic.Int32) tidegate.Handler[map[string]any] {
	return func(ctx context.Context, _ anyInput) (any, error) {
		calls.Add(1)
		var all []string
		for _, id := range []string{"a", "b", "c"} {
			got, err := step.Run(ctx, id, func(context.Context) (string, error) { return id, nil })
			if err != nil {
				return nil, err
			}
			all = append(all, got)
		}
		return all, nil
	}
}

const checkpointCtx = `,"qi_id":"q"`

// checkpointed is an app with the function, and the checkpoints that the service gets, which it answers so.
func checkpointed(t *testing.T, options *tidegate.Checkpoint, handler tidegate.Handler[map[string]any], statuses ...int) (answer func() tidegate.AppAnswer, stored func() string) {
	t.Helper()
	var all []string
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Steps []struct{ Name string } }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || r.URL.Path != "/v1/checkpoint/01RUN/async" {
			t.Errorf("got %s, %v", r.URL, err)
		}
		all = append(all, fmt.Sprint(body.Steps))
		w.WriteHeader(statuses[min(len(all), len(statuses))-1])
	}))
	t.Cleanup(service.Close)
	client := newClient(t, tidegate.ClientOpts{AppID: "shop", Dev: tidegate.Ptr(true), BaseURL: service.URL, Checkpoint: options})
	fn, err := tidegate.CreateFunction(client, tidegate.FunctionOpts{ID: "fn"}, tidegate.EventTrigger("order/paid"), handler)
	if err != nil {
		t.Fatal(err)
	}
	app := newApp(t, client, tidegate.ServeOpts{}, fn)
	body := `{"event":{"name":"order/paid","data":{}},"steps":{},"ctx":{"run_id":"01RUN","fn_id":"f","stack":{"stack":[]}` + checkpointCtx + `}}`
	answer = func() tidegate.AppAnswer {
		return app.Answer(t.Context(), tidegate.AppRequest{Method: http.MethodPost, URL: "/?fnId=shop-fn", Body: body})
	}
	return answer, func() string { return fmt.Sprint(all) }
}

// opsOf has the names of a response's operations.
func opsOf(t *testing.T, a tidegate.AppAnswer) string {
	t.Helper()
	var ops []struct{ DisplayName string }
	if err := json.Unmarshal(a.Body, &ops); err != nil || a.Status != http.StatusPartialContent {
		t.Errorf("got %d %s", a.Status, a.Body)
	}
	return fmt.Sprint(ops)
}

func TestCheckpointsPauseAtAServiceThatHasNone(t *testing.T) {
	answer, stored := checkpointed(t, nil, threeSteps(new(atomic.Int32)), 404)
	for range 3 {
		if ops := opsOf(t, answer()); ops != "[{a}]" {
			t.Errorf("got %s", ops)
		}
	}
	if stored() != "[[{a}]]" {
		t.Errorf("got %s", stored())
	}
}

func TestCheckpointsAreTriedAgainAfterTheServiceHasFailed(t *testing.T) {
	answer, _ := checkpointed(t, nil, threeSteps(new(atomic.Int32)), 503, 200)
	if ops := opsOf(t, answer()); ops != "[{a}]" {
		t.Errorf("got %s", ops)
	}
	if a := answer(); a.Status != http.StatusOK {
		t.Errorf("got %d %s", a.Status, a.Body)
	}
}

func TestABufferIsStoredBeforeItIsFullWhenItsResultsAreLarge(t *testing.T) {
	large := func(ctx context.Context, _ anyInput) (any, error) {
		for _, id := range []string{"a", "b", "c"} {
			if _, err := step.Run(ctx, id, func(context.Context) (string, error) { return strings.Repeat("x", 600_000), nil }); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	answer, stored := checkpointed(t, &tidegate.Checkpoint{Buffer: 100}, large, 200)
	if ops := opsOf(t, answer()); ops != "[{c} {complete}]" || stored() != "[[{a} {b}]]" {
		t.Errorf("got %s after %s", ops, stored())
	}
}

func TestCheckpointsOutOfRangeAreRefused(t *testing.T) {
	client := newClient(t, tidegate.ClientOpts{AppID: "shop"})
	options := tidegate.FunctionOpts{ID: "fn", Checkpoint: &tidegate.Checkpoint{Buffer: 101}}
	_, err := tidegate.CreateFunction(client, options, tidegate.EventTrigger("order/paid"), threeSteps(new(atomic.Int32)))
	if err == nil || !strings.Contains(err.Error(), `function "fn": Checkpoint.Buffer must be from 1 to 100, got 101`) {
		t.Errorf("got %v", err)
	}
	if _, err := tidegate.NewClient(tidegate.ClientOpts{AppID: "shop", Checkpoint: &tidegate.Checkpoint{MaxRuntime: -1}}); err == nil {
		t.Error("it is taken")
	}
}

func TestARealServiceTakesCheckpoints(t *testing.T) {
	each(t, func(t *testing.T, s realService) {
		var calls [2]atomic.Int32
		one := s.create(t, tidegate.FunctionOpts{ID: "one"}, threeSteps(&calls[0]))
		several := s.create(t, tidegate.FunctionOpts{ID: "several", Checkpoint: &tidegate.Checkpoint{Off: true}}, threeSteps(&calls[1]))
		s.host(t, one, several)
		for _, id := range []string{"one", "several"} {
			if got := s.run(t, id, nil); string(got.Output) != `["a","b","c"]` {
				t.Errorf("%s: got %+v %s", id, got, got.Output)
			}
		}
		if got := fmt.Sprint(calls[0].Load(), " ", calls[1].Load()); got != "1 4" {
			t.Errorf("got %s calls", got)
		}
	})
}

func TestLogsAreSentWithEachCheckpoint(t *testing.T) {
	batches := make(chan loggedBatch, 2)
	service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var batch loggedBatch
		if strings.HasSuffix(r.URL.Path, "/logs") && json.NewDecoder(r.Body).Decode(&batch) == nil {
			batches <- batch
		}
	}))
	t.Cleanup(service.Close)
	logging := func(ctx context.Context, logger *slog.Logger) error {
		for _, id := range []string{"a", "b"} {
			if _, err := step.Run(ctx, id, func(context.Context) (any, error) {
				for range 200 {
					logger.Info(id)
				}
				return nil, nil
			}); err != nil {
				return err
			}
		}
		return nil
	}
	if a := callLogging(t, service.URL, logsCtx+`,"attempt":0`+checkpointCtx, "", tidegate.ClientOpts{}, logging); a.Status != http.StatusOK {
		t.Fatalf("got %d %s", a.Status, a.Body)
	}
	for range 2 {
		select {
		case batch := <-batches:
			if len(batch.Lines) != 200 || batch.Dropped != 0 {
				t.Errorf("got %d lines, and %d were dropped", len(batch.Lines), batch.Dropped)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("no lines came")
		}
	}
}

func TestTheEndOfACallDoesNotEndTheRequestThatItShares(t *testing.T) {
	// On a busy machine the service may answer before the last call asks it.
	for range 20 {
		if endsWhileItShares(t) {
			return
		}
	}
	t.Error("no calls shared a request")
}

// endsWhileItShares says whether the call that ended shared its request.
func endsWhileItShares(t *testing.T) bool {
	t.Helper()
	requests, release := make(chan string, 4), make(chan struct{})
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		requests <- r.URL.Path
		<-release
		_, _ = io.WriteString(w, `{"results":[{"status":200},{"status":200},{"status":200}]}`)
	}))
	t.Cleanup(service.Close)
	client := newClient(t, tidegate.ClientOpts{AppID: "shop", Dev: tidegate.Ptr(true), BaseURL: service.URL})
	ran := make(chan struct{})
	fn, err := tidegate.CreateFunction(client, tidegate.FunctionOpts{ID: "fn"}, tidegate.EventTrigger("order/paid"), func(ctx context.Context, _ anyInput) (any, error) {
		return step.Run(ctx, "a", func(context.Context) (any, error) { ran <- struct{}{}; return nil, nil })
	})
	if err != nil {
		t.Fatal(err)
	}
	app := newApp(t, client, tidegate.ServeOpts{}, fn)
	call := func(ctx context.Context) chan int {
		status := make(chan int, 1)
		body := `{"event":{"name":"order/paid","data":{}},"steps":{},"ctx":{"run_id":"01RUN","fn_id":"f","stack":{"stack":[]}` + checkpointCtx + `}}`
		go func() {
			status <- app.Answer(ctx, tidegate.AppRequest{Method: http.MethodPost, URL: "/?fnId=shop-fn", Body: body}).Status
		}()
		<-ran
		return status
	}
	var alone []chan int
	for range 2 {
		alone = append(alone, call(t.Context()))
		<-requests
	}
	ending, end := context.WithCancel(t.Context())
	first := call(ending)
	others := []chan int{call(t.Context()), call(t.Context())}
	release <- struct{}{}
	shared := <-requests
	end()
	<-first
	close(release)
	for _, status := range append(alone, others...) {
		if got := <-status; got != http.StatusOK {
			t.Errorf("got %d", got)
		}
	}
	return shared == "/v1/checkpoints"
}
