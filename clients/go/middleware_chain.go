package tidegate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tidegate/tidegate/clients/go/internal/place"
	"github.com/tidegate/tidegate/clients/go/internal/replay"
)

// chain is a list of middleware, the outermost first.
type chain []Middleware

// inside has the other middleware inside this one.
func (c chain) inside(others []Middleware) chain { return slices.Concat(c, others) }

// encodes says whether any middleware encodes values for the service.
func (c chain) encodes() bool {
	return slices.ContainsFunc(c, func(m Middleware) bool { return m.Encode != nil })
}

func (c chain) run(ctx context.Context, call *RunCall, handler func(context.Context) (any, error)) (any, error) {
	next := handler
	for _, m := range slices.Backward(c) {
		if m.OnRun != nil {
			inner := next
			next = func(ctx context.Context) (any, error) { return m.OnRun(ctx, call, inner) }
		}
	}
	return next(ctx)
}

func (c chain) step(ctx context.Context, call *StepCall, code func(context.Context) (any, error)) (any, error) {
	next := code
	for _, m := range slices.Backward(c) {
		if m.OnStep != nil {
			inner := next
			next = func(ctx context.Context) (any, error) { return m.OnStep(ctx, call, inner) }
		}
	}
	return next(ctx)
}

// send hands events on, changed and encoded.
func (c chain) send(ctx context.Context, call SendCall, events []any, hand func(context.Context, []any) ([]string, error)) ([]string, error) {
	if len(c) == 0 {
		return hand(ctx, events)
	}
	for index, event := range events {
		text, err := encodeEvent(event, index)
		if err != nil {
			return nil, err
		}
		var raw RawEvent
		if err := json.Unmarshal(text, &raw); err != nil {
			return nil, fmt.Errorf("event %d is not an event: %w", index, err)
		}
		call.Events = append(call.Events, raw)
	}
	next := func(ctx context.Context) ([]string, error) {
		encoded, err := c.encodeEvents(ctx, call.Events)
		if err != nil {
			return nil, err
		}
		return hand(ctx, encoded)
	}
	for _, m := range slices.Backward(c) {
		if m.OnSend != nil {
			inner := next
			next = func(ctx context.Context) ([]string, error) { return m.OnSend(ctx, &call, inner) }
		}
	}
	return next(ctx)
}

func (c chain) encodeEvents(ctx context.Context, events []RawEvent) ([]any, error) {
	encoded := make([]any, len(events))
	for i, event := range events {
		data, err := c.encode(ctx, event.dataOrEmpty(), AtEvent, place.Event(event.Name))
		if err != nil {
			return nil, err
		}
		event.Data = data
		if encoded[i], err = event.whole(); err != nil {
			return nil, err
		}
	}
	return encoded, nil
}

// encode is nearest to the wire where the list begins.
func (c chain) encode(ctx context.Context, value json.RawMessage, at At, where place.Place) (json.RawMessage, error) {
	ctx = place.With(ctx, where)
	for _, m := range slices.Backward(c) {
		var err error
		if value, err = m.change(ctx, m.Encode, value, at); err != nil {
			return nil, err
		}
	}
	return value, nil
}

// decode gets the places to which the value may belong; none: clients never encode this value.
func (c chain) decode(ctx context.Context, value json.RawMessage, at At, where ...place.Place) (json.RawMessage, error) {
	ctx = place.With(ctx, where...)
	for _, m := range c {
		var err error
		if value, err = m.change(ctx, m.Decode, value, at); err != nil {
			return nil, err
		}
	}
	return value, nil
}

// change makes an error of a panic: it may be in no goroutine of the handler's.
func (m Middleware) change(
	ctx context.Context,
	hook func(context.Context, json.RawMessage, At) (json.RawMessage, error),
	value json.RawMessage, at At,
) (changed json.RawMessage, err error) {
	if hook == nil {
		return value, nil
	}
	defer func() {
		if panicked := recover(); panicked != nil {
			err = replay.AsPanic(panicked)
		}
	}()
	if changed, err = hook(ctx, value, at); err == nil && !json.Valid(changed) {
		err = fmt.Errorf("the middleware %q has made no JSON of the %s", m.Name, at)
	}
	return changed, err
}
