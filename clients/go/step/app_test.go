package step_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/internal/replay"
)

// called is one call of a function, by the IDs in the code.
type called struct {
	steps   map[string]string
	order   []string
	stepID  string
	planned bool
}

// answered is what the function made of it.
type answered struct {
	status int
	// noRetry header.
	noRetry string
	body    string
	ops     []replay.Op
	failure replay.WireError
	// log has the lines of the handler's logger.
	log string
}

type handler func(ctx context.Context, in tidegate.Input[map[string]any]) (any, error)

// call calls a function as the service does, and reads its response.
func call(t *testing.T, h handler, c called) answered {
	t.Helper()
	var log bytes.Buffer
	dev := true
	client, err := tidegate.NewClient(tidegate.ClientOpts{AppID: "shop", Dev: &dev, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	fn, err := tidegate.CreateFunction(client, tidegate.FunctionOpts{ID: "fn"}, tidegate.EventTrigger("order/paid"), tidegate.Handler[map[string]any](h))
	if err != nil {
		t.Fatal(err)
	}
	app, err := tidegate.Serve(client, tidegate.ServeOpts{}, fn)
	if err != nil {
		t.Fatal(err)
	}
	a := app.Answer(t.Context(), tidegate.AppRequest{Method: "POST", URL: "/?fnId=shop-fn&stepId=" + c.hashedStep(), Body: c.body()})
	got := answered{status: a.Status, noRetry: a.Header.Get("x-service-no-retry"), body: string(a.Body), log: log.String()}
	// Each answer is one of these two, or neither.
	_ = json.Unmarshal(a.Body, &got.ops)
	_ = json.Unmarshal(a.Body, &got.failure)
	return got
}

func (c called) hashedStep() string {
	if c.stepID == "" {
		return "step"
	}
	return replay.HashID(c.stepID)
}

func (c called) body() any {
	steps := map[string]json.RawMessage{}
	for id, memo := range c.steps {
		steps[replay.HashID(id)] = json.RawMessage(memo)
	}
	stack := []string{}
	for _, id := range c.order {
		stack = append(stack, replay.HashID(id))
	}
	return map[string]any{
		"event": map[string]any{"name": "order/paid", "data": map[string]any{}, "id": "01E", "ts": 1},
		"steps": steps,
		"ctx": map[string]any{
			"run_id":                      "01HZZZZZZZZZZZZZZZZZZZZZZZ",
			"disable_immediate_execution": c.planned,
			"stack":                       map[string]any{"stack": stack},
		},
	}
}

// names of the ops, with what they are.
func (a answered) opNames() string {
	text := ""
	for _, op := range a.ops {
		text += string(op.Code) + " " + op.DisplayName + "; "
	}
	return text
}

// expect fails unless the texts are equal.
func expect(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// describeOps says in words what ops ask for: planned steps, a wait, or a request.
func describeOps(body []byte) string {
	var ops []replay.Op
	if err := json.Unmarshal(body, &ops); err != nil {
		return err.Error()
	}
	names := make([]string, len(ops))
	for i, op := range ops {
		names[i] = op.DisplayName
	}
	verb := "planned"
	switch ops[0].Code {
	case replay.OpWaitForEvent, replay.OpWaitForSignal:
		verb = "waits"
	case replay.OpGateway, replay.OpAIGateway:
		verb = "requests"
	}
	return verb + ": " + strings.Join(names, ", ")
}
