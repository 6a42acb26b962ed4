package tidegatetest

import (
	"context"
	"encoding/json"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/internal/place"
	"github.com/tidegate/tidegate/clients/go/internal/replay"
)

func (r *testRun) places() place.Run { return r.fn.PlacesForTest(r.id, r.events[0]) }

// encode is a value as the service would store it.
func (r *testRun) encode(ctx context.Context, value any, at tidegate.At, where place.Place) (json.RawMessage, error) {
	text, err := replay.Encode(value)
	if err != nil {
		return nil, err
	}
	return r.fn.EncodeForTest(ctx, text, at, where)
}

// encodeEvent is the data of an event as the service would store it.
func (r *testRun) encodeEvent(ctx context.Context, name string, data any) (json.RawMessage, error) {
	text, err := replay.Encode(data)
	if err != nil {
		return nil, err
	}
	return r.fn.EncodeForTest(ctx, text, tidegate.AtEvent, place.Received(name, text))
}

// decodeResult is the result of a step in the form that the code gets.
func (r *testRun) decodeResult(ctx context.Context, op replay.Op, data json.RawMessage) (json.RawMessage, error) {
	switch {
	case data == nil || op.Code == replay.OpSleep:
		return data, nil
	case op.Code == replay.OpWaitForEvent:
		return r.fn.DecodeEventForTest(ctx, data)
	case op.Code == replay.OpWaitForSignal && string(data) == "null":
		return data, nil
	case op.Code == replay.OpInvokeFunction:
		return r.fn.DecodeForTest(ctx, data, tidegate.AtOutput, r.invoked(op))
	case op.Code == replay.OpStepPlanned:
		return r.fn.DecodeForTest(ctx, data, tidegate.AtStep, r.places().Step(op.ID))
	default:
		return r.fn.DecodeForTest(ctx, data, tidegate.AtStep)
	}
}

func (r *testRun) invoked(op replay.Op) place.Place {
	functionID, _ := op.Opts["function_id"].(string)
	return r.places().InvokedResults(functionID, op.ID)[0]
}
