package tidegatetest

import (
	"encoding/json"
	"fmt"

	"github.com/tidegate/tidegate/clients/go/internal/replay"
)

// ending is what a step has come to.
type ending struct {
	data    json.RawMessage
	failure *replay.WireError
}

// memoOf is the protocol's memo for it.
func (e ending) memoOf(op replay.Op) json.RawMessage {
	if e.failure != nil {
		memo, _ := replay.Encode(map[string]any{"error": e.failure}) // of texts only
		return memo
	}
	if op.Code == replay.OpWaitForEvent || op.Code == replay.OpSleep {
		return e.data
	}
	return json.RawMessage(`{"data":` + string(e.data) + `}`)
}

// stub is nil when the step has none. It fails when it needs one: there is no service here to run another function.
func (r *testRun) stub(op replay.Op) (*ending, error) {
	stub, there := r.stubs[op.DisplayName]
	if !there && op.Code == replay.OpInvokeFunction {
		return nil, fmt.Errorf("step %q invokes %v: give its result, as Steps: map[string]any{%q: …}",
			op.DisplayName, op.Opts["function_id"], op.DisplayName)
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
	data, err := stubbedData(op, value)
	if err != nil {
		return nil, fmt.Errorf("the stub of step %q: %w", op.DisplayName, err)
	}
	return &ending{data: data}, nil
}

func stubbedData(op replay.Op, value any) (json.RawMessage, error) {
	if op.Code != replay.OpWaitForEvent || value == nil {
		return replay.Encode(value)
	}
	return fillUp(map[string]any{"name": op.Name, "data": map[string]any{}, "id": "test-event", "ts": 0}, value)
}
