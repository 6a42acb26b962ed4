package step

import (
	"context"

	"github.com/tidegate/tidegate/clients/go/internal/replay"
)

// Parallel runs the steps of several functions in parallel. The functions' own code takes turns, so it needs no locks.
// It returns nil when all have returned, or the first error as soon as one function returns it. It does not wait for the others
// then, but steps that they have begun continue. Each function must use the context that it is given.
func Parallel(ctx context.Context, branches ...func(ctx context.Context) error) error {
	return replay.Parallel(ctx, branches)
}

// All is Parallel for functions that return a value: the results are in the same order.
func All[T any](ctx context.Context, branches ...func(ctx context.Context) (T, error)) ([]T, error) {
	results := make([]T, len(branches))
	bodies := make([]func(context.Context) error, len(branches))
	for i, branch := range branches {
		bodies[i] = func(ctx context.Context) (err error) {
			results[i], err = branch(ctx)
			return err
		}
	}
	if err := replay.Parallel(ctx, bodies); err != nil {
		return nil, err
	}
	return results, nil
}
