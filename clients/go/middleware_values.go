package tidegate

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/tidegate/tidegate/clients/go/internal/place"
	"github.com/tidegate/tidegate/clients/go/internal/replay"
)

// stepValues hands the values of one call's steps to the middleware of its function.
type stepValues struct {
	chain  chain
	call   StepCall
	places place.Run
}

// valuesOf is nil without middleware.
func valuesOf(f *function, c call) replay.Values {
	if len(f.middleware) == 0 {
		return nil
	}
	told := StepCall{AppID: f.appID, FunctionID: f.id, RunID: c.runID, Attempt: c.attempt}
	return stepValues{f.middleware, told, f.placesOf(c)}
}

func (f *function) placesOf(c call) place.Run {
	return place.Run{FunctionID: f.compositeID(), ID: c.runID, RerunOf: c.rerunOf, Event: c.event}
}

func (v stepValues) RunStep(ctx context.Context, id, name string, next func(context.Context) (any, error)) (any, error) {
	call := v.call
	call.ID, call.Name = id, name
	return v.chain.step(ctx, &call, next)
}

func (v stepValues) EncodeResult(ctx context.Context, found replay.Found, data json.RawMessage) (json.RawMessage, error) {
	return v.chain.encode(ctx, data, AtStep, v.places.Step(found.HashedID))
}

// EncodeOpts encodes the data of a step.Invoke. Other steps have nothing that only the app reads.
func (v stepValues) EncodeOpts(ctx context.Context, found replay.Found) (map[string]any, error) {
	payload, ok := found.Opts["payload"].(map[string]any)
	if found.Kind != replay.KindInvoke || !ok {
		return found.Opts, nil
	}
	data, err := replay.Encode(payload["data"])
	if err == nil {
		data, err = v.chain.encode(ctx, data, AtEvent, v.places.Invocation(invokedBy(found.Opts), found.HashedID))
	}
	changed, inner := maps.Clone(found.Opts), maps.Clone(payload)
	inner["data"], changed["payload"] = data, inner
	return changed, err
}

func (v stepValues) DecodeResult(ctx context.Context, found replay.Found, data json.RawMessage) (json.RawMessage, error) {
	switch found.Kind {
	case replay.KindSleep:
		return data, nil
	case replay.KindInvoke:
		return v.chain.decode(ctx, data, AtOutput, v.places.InvokedResults(invokedBy(found.Opts), found.HashedID)...)
	case replay.KindWait:
		return v.chain.decodeAwaited(ctx, data, found.Name)
	case replay.KindSignal:
		if isAbsent(data) {
			return data, nil
		}
		return v.chain.decode(ctx, data, AtStep)
	case replay.KindFetch, replay.KindInfer:
		return v.chain.decode(ctx, data, AtStep)
	default:
		return v.chain.decode(ctx, data, AtStep, v.places.Results(found.HashedID)...)
	}
}

func invokedBy(opts map[string]any) string {
	functionID, _ := opts["function_id"].(string)
	return functionID
}
