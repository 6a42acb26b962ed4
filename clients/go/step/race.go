package step

import (
	"context"
	"errors"

	"github.com/tidegate/tidegate/clients/go/internal/replay"
)

// Race is like All, but returns the result or error of the function that ends first, as soon as it ends. The steps
// that the others have begun continue, but nothing waits for them.
func Race[T any](ctx context.Context, branches ...func(ctx context.Context) (T, error)) (T, error) {
	var first T
	if len(branches) == 0 {
		return first, errors.New("a race needs branches")
	}
	ended := false
	bodies := make([]func(context.Context) error, len(branches))
	for i, branch := range branches {
		bodies[i] = func(ctx context.Context) error {
			result, err := branch(ctx)
			if !ended {
				ended, first = true, result
			}
			return err
		}
	}
	err := replay.Race(ctx, bodies)
	return first, err
}
