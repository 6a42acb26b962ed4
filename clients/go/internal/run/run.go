// Package run carries what steps need to know of their run.
package run

import "context"

// Service is what steps ask of the service while they run in the app.
type Service struct {
	// Send sends events under a seed.
	Send func(ctx context.Context, events []any, seed string) ([]string, error)
	// SendSignal returns the ID of the run that waited; empty: no run waited.
	SendSignal func(ctx context.Context, signal string, data any) (string, error)
	Publish    func(ctx context.Context, channel, topic string, data any) error
}

// Run is the run that a context belongs to.
type Run struct {
	ID string
	// EventTime is when its event was, in milliseconds since 1970.
	EventTime int64
	Service   Service
}

type key struct{}

// With returns a context with the run.
func With(ctx context.Context, r Run) context.Context { return context.WithValue(ctx, key{}, r) }

// Of returns the run of the context. Steps check first that they are in a function.
func Of(ctx context.Context) Run {
	r, _ := ctx.Value(key{}).(Run)
	return r
}

// IdempotencyKey of a step is the same in all of its attempts.
func IdempotencyKey(runID, hashedStepID string) string { return runID + "-" + hashedStepID }
