package tidegate

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/tidegate/tidegate/clients/go/internal/replay"
)

// stepValues hands the values of one call's steps to the middleware of its function.
type stepValues struct {
	chain chain
	call  StepCall
}

// valuesOf is nil without middleware.
func valuesOf(f *function, c call) replay.Values {
	if len(f.middleware) == 0 {
		return nil
	}
	return stepValues{f.middleware, StepCall{AppID: f.appID, FunctionID: f.id, RunID: c.runID, Attempt: c.attempt}}
}

func (v stepValues) RunStep(ctx context.Context, id, name string, next func(context.Context) (any, error)) (any, error) {
	call := v.call
	call.ID, call.Name = id, name
	return v.chain.step(ctx, &call, next)
}

func (v stepValues) EncodeResult(ctx context.Context, data json.RawMessage) (json.RawMessage, error) {
	return v.chain.encode(ctx, data, AtStep)
}

// EncodeOpts encodes the data of a step.Invoke. Other steps have nothing that only the app reads.
func (v stepValues) EncodeOpts(ctx context.Context, kind replay.Kind, opts map[string]any) (map[string]any, error) {
	payload, ok := opts["payload"].(map[string]any)
	if kind != replay.KindInvoke || !ok {
		return opts, nil
	}
	data, err := replay.Encode(payload["data"])
	if err == nil {
		data, err = v.chain.encode(ctx, data, AtEvent)
	}
	changed, inner := maps.Clone(opts), maps.Clone(payload)
	inner["data"], changed["payload"] = data, inner
	return changed, err
}

func (v stepValues) DecodeResult(ctx context.Context, kind replay.Kind, data json.RawMessage) (json.RawMessage, error) {
	switch kind {
	case replay.KindSleep:
		return data, nil
	case replay.KindInvoke:
		return v.chain.decode(ctx, data, AtOutput)
	case replay.KindWait:
		return v.chain.decodeEvent(ctx, data)
	case replay.KindSignal:
		if isAbsent(data) {
			return data, nil
		}
	}
	return v.chain.decode(ctx, data, AtStep)
}
