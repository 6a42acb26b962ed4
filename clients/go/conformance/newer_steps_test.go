package conformance

import (
	"context"
	"errors"

	"github.com/tidegate/tidegate/clients/go/step"
)

// newer is a statement of one of the tools that ask the service for more than to remember.
func (s statement) newer(ctx context.Context, v variables) (any, error) {
	data, err := v.read(s.Data)
	if err != nil {
		return nil, err
	}
	body, err := v.read(s.Body)
	if err != nil {
		return nil, err
	}
	switch {
	case s.WaitForSignal != "":
		return s.waitForSignal(ctx)
	case s.SendSignal != "":
		runID, err := step.SendSignal(ctx, s.SendSignal, s.Signal, data)
		if runID == "" {
			return nil, err
		}
		return runID, err
	case s.Fetch != "":
		r, err := step.Fetch(ctx, s.Fetch, step.FetchOpts{URL: s.URL, Method: s.Method, Headers: s.Headers, Body: body})
		value := map[string]any{"status": r.Status, "headers": r.Headers, "body": nil, "url": r.URL}
		if r.Body != nil {
			value["body"] = string(r.Body)
		}
		return value, err
	default:
		options := step.InferOpts{URL: s.URL, Format: s.Format, AuthKey: s.AuthKey, Headers: s.Headers, Body: body}
		return step.Infer[any](ctx, s.Infer, options)
	}
}

func (s statement) waitForSignal(ctx context.Context) (any, error) {
	timeout, err := lengthOf(s.Timeout)
	if err != nil {
		return nil, err
	}
	options := step.WaitForSignalOpts{Signal: s.Signal, Timeout: timeout, Replace: s.Conflict == "replace"}
	data, err := step.WaitForSignal[any](ctx, s.WaitForSignal, options)
	if errors.Is(err, step.ErrSignalNotReceived) {
		return nil, nil
	}
	return map[string]any{"signal": s.Signal, "data": data}, err
}
