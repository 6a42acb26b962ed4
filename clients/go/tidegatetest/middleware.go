package tidegatetest

import (
	"context"
	"encoding/json"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/internal/replay"
)

// encode is a value as the service would store it.
func (r *testRun) encode(ctx context.Context, value any, at tidegate.At) (json.RawMessage, error) {
	text, err := replay.Encode(value)
	if err != nil {
		return nil, err
	}
	return r.fn.EncodeForTest(ctx, text, at)
}

// decodeResult is what a step came to, as the code has it.
func (r *testRun) decodeResult(ctx context.Context, op replay.Op, data json.RawMessage) (json.RawMessage, error) {
	switch {
	case data == nil || op.Code == replay.OpSleep:
		return data, nil
	case op.Code == replay.OpWaitForEvent:
		return r.fn.DecodeEventForTest(ctx, data)
	case op.Code == replay.OpWaitForSignal && string(data) == "null":
		return data, nil
	case op.Code == replay.OpInvokeFunction:
		return r.fn.DecodeForTest(ctx, data, tidegate.AtOutput)
	default:
		return r.fn.DecodeForTest(ctx, data, tidegate.AtStep)
	}
}
