package tidegatetest

import (
	"context"
	"encoding/json"
	"fmt"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/internal/replay"
	"github.com/tidegate/tidegate/clients/go/step"
)

// ending is the result of a step.
type ending struct {
	data    json.RawMessage
	failure *replay.WireError
	// attempts that it took; 0: it was no work of the app.
	attempts int
}

// memoOf is the protocol's memo for it.
func (e ending) memoOf(op replay.Op) json.RawMessage {
	if e.failure != nil {
		memo, _ := replay.Encode(map[string]any{"error": e.failure}) // of texts only
		return memo
	}
	isWait := op.Code == replay.OpWaitForEvent || op.Code == replay.OpWaitForSignal && string(e.data) == "null"
	if isWait || op.Code == replay.OpSleep {
		return e.data
	}
	return json.RawMessage(`{"data":` + string(e.data) + `}`)
}

// stub is nil if the step has no stub. It fails if the step needs one: there is no service here to run another function.
func (r *testRun) stub(ctx context.Context, op replay.Op) (*ending, error) {
	stub, there := r.stubs[op.DisplayName]
	if needs := needed(op); !there && needs != "" {
		return nil, fmt.Errorf("step %q %s: give its result, as Steps: map[string]any{%q: …}", op.DisplayName, needs, op.DisplayName)
	}
	if !there {
		return nil, nil
	}
	value, failure := stub, error(nil)
	switch s := stub.(type) {
	case error:
		failure = s
	case func() (any, error):
		value, failure = s()
	}
	if failure != nil {
		return &ending{failure: r.fn.DescribeForTest(failure)}, nil
	}
	data, err := r.stubbedData(ctx, op, value)
	if err != nil {
		return nil, fmt.Errorf("the stub of step %q: %w", op.DisplayName, err)
	}
	return &ending{data: data}, nil
}

// needed is what only a service could do for the step; empty: it can do without.
func needed(op replay.Op) string {
	switch op.Code {
	case replay.OpInvokeFunction:
		return fmt.Sprint("invokes ", op.Opts["function_id"])
	case replay.OpGateway:
		return "makes a request"
	case replay.OpAIGateway:
		return "asks a model"
	default:
		return ""
	}
}

func (r *testRun) stubbedData(ctx context.Context, op replay.Op, value any) (json.RawMessage, error) {
	if op.Code == replay.OpWaitForSignal && value != nil {
		return replay.Encode(map[string]any{"signal": op.Name, "data": value})
	}
	if response, ok := value.(step.Response); ok {
		return responseData(response)
	}
	switch {
	case op.Code == replay.OpWaitForEvent && value != nil:
		return r.fillUp(ctx, map[string]any{"name": op.Name, "data": map[string]any{}, "id": "test-event", "ts": 0}, value, op.Name)
	case op.Code == replay.OpInvokeFunction:
		return r.encode(ctx, value, tidegate.AtOutput, r.invoked(op))
	case op.Code == replay.OpStepPlanned:
		return r.encode(ctx, value, tidegate.AtStep, r.places().Step(op.ID))
	default:
		return replay.Encode(value)
	}
}

func responseData(r step.Response) (json.RawMessage, error) {
	wire := map[string]any{"status_code": r.Status, "headers": r.Headers, "body": nil, "url": r.URL}
	if r.Body != nil {
		wire["body"] = string(r.Body)
	}
	return replay.Encode(wire)
}
