// Package clock says what time it is. A context may carry another clock than the real one.
package clock

import (
	"context"
	"math/rand/v2"
	"time"
)

// Clock is the time and the chance that sending and verifying depend on.
type Clock interface {
	Now() time.Time
	// Random is from 0 to 1.
	Random() float64
	// Sleep returns early when the context ends.
	Sleep(ctx context.Context, d time.Duration)
}

type key struct{}

// With returns a context whose code uses this clock.
func With(ctx context.Context, c Clock) context.Context {
	return context.WithValue(ctx, key{}, c)
}

// Of returns the clock of the context, by default the real one.
func Of(ctx context.Context) Clock {
	if c, ok := ctx.Value(key{}).(Clock); ok {
		return c
	}
	return realClock{}
}

type realClock struct{}

func (realClock) Now() time.Time { return time.Now() }

func (realClock) Random() float64 { return rand.Float64() }

func (realClock) Sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
