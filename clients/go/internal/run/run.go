// Package run carries what steps need to know of their run.
package run

import "context"

// SendFunc sends events under a seed.
type SendFunc func(ctx context.Context, events []any, seed string) ([]string, error)

// Run is the one that a context belongs to.
type Run struct {
	ID string
	// EventTime is when its event was, in milliseconds since 1970.
	EventTime int64
	// Send is for steps that send events.
	Send SendFunc
}

type key struct{}

// With is a context of the run.
func With(ctx context.Context, r Run) context.Context { return context.WithValue(ctx, key{}, r) }

// Of is the context's run. Steps find one, for they have asked before whether they are in a function.
func Of(ctx context.Context) Run {
	r, _ := ctx.Value(key{}).(Run)
	return r
}
