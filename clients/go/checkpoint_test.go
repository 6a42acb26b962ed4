package tidegate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

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

// checkpointed is the answer to a call of threeSteps, and the checkpoints of it, which the service answers so.
func checkpointed(t *testing.T, query, ctx string, statuses ...int) (answer tidegate.AppAnswer, stored []string) {
	t.Helper()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/v1/checkpoint/01RUN/async" {
			t.Errorf("got %s, %v", r.URL, err)
		}
		stored = append(stored, string(body))
		w.WriteHeader(statuses[min(len(stored), len(statuses))-1])
	}))
	defer service.Close()
	client := newClient(t, tidegate.ClientOpts{AppID: "shop", Dev: tidegate.Ptr(true), BaseURL: service.URL})
	options := tidegate.FunctionOpts{ID: "fn", Checkpoint: true}
	fn, err := tidegate.CreateFunction(client, options, tidegate.EventTrigger("order/paid"), threeSteps(new(atomic.Int32)))
	if err != nil {
		t.Fatal(err)
	}
	app := newApp(t, client, tidegate.ServeOpts{}, fn)
	body := `{"event":{"name":"order/paid","data":{}},"steps":{},"ctx":{"run_id":"01RUN","fn_id":"f","stack":{"stack":[]}` + ctx + `}}`
	request := tidegate.AppRequest{Method: http.MethodPost, URL: "/?fnId=shop-fn" + query, Body: body}
	return app.Answer(t.Context(), request), stored
}

func TestCheckpoints(t *testing.T) {
	for title, c := range map[string]struct {
		query, ctx string
		statuses   []int
		status     int
		checkpoint int
		op         string
	}{
		"let a call run all steps":                  {"", `,"qi_id":"q"`, []int{200}, 200, 3, ""},
		"that are refused leave the step to answer": {"", `,"qi_id":"q"`, []int{200, 503}, 206, 2, "b"},
		"of a call that the service gave up end it": {"", `,"qi_id":"q"`, []int{409}, 206, 1, "a"},
		"need the ID of the call":                   {"", "", []int{200}, 206, 0, "a"},
		"are not for a call of one step":            {"&stepId=86f7e437faa5a7fce15d1ddcb9eaeaea377667b8", `,"qi_id":"q"`, []int{200}, 206, 0, "a"},
		"are not for a call beside others":          {"", `,"qi_id":"q","disable_immediate_execution":true`, []int{200}, 206, 0, "a"},
	} {
		t.Run(title, func(t *testing.T) {
			a, stored := checkpointed(t, c.query, c.ctx, c.statuses...)
			if a.Status != c.status || len(stored) != c.checkpoint {
				t.Errorf("got %d %s after %v", a.Status, a.Body, stored)
			}
			var ops []struct{ DisplayName string }
			if a.Status == 206 && (json.Unmarshal(a.Body, &ops) != nil || len(ops) != 1 || ops[0].DisplayName != c.op) {
				t.Errorf("got %s", a.Body)
			}
			if a.Status == 200 && string(a.Body) != `["a","b","c"]` {
				t.Errorf("got %s", a.Body)
			}
			want := `{"fn_id":"f","qi_id":"q","run_id":"01RUN","steps":[{"id":"86f7e437faa5a7fce15d1ddcb9eaeaea377667b8","op":"StepRun","name":"a","displayName":"a","opts":{},"data":"a"}]}`
			if len(stored) > 0 && stored[0] != want {
				t.Errorf("got %s", stored[0])
			}
		})
	}
}

func TestARealServiceTakesCheckpoints(t *testing.T) {
	each(t, func(t *testing.T, s realService) {
		var calls [2]atomic.Int32
		one := s.create(t, tidegate.FunctionOpts{ID: "one", Checkpoint: true}, threeSteps(&calls[0]))
		several := s.create(t, tidegate.FunctionOpts{ID: "several"}, threeSteps(&calls[1]))
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
