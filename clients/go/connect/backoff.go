package connect

import (
	"context"
	"time"

	"github.com/tidegate/tidegate/clients/go/internal/clock"
)

// Delays differ between the instances of a gateway that has died.
const (
	firstBackoff = 500 * time.Millisecond
	maxBackoff   = 30 * time.Second
	// maxDoublings: more would make no difference, and in the end no number.
	maxDoublings = 16
)

// backoff is exponential, with full jitter.
func backoff(ctx context.Context, tries int) time.Duration {
	longest := min(maxBackoff, firstBackoff<<min(tries, maxDoublings))
	return time.Duration(clock.Of(ctx).Random() * float64(longest))
}

// jitter is before the first try.
func jitter(ctx context.Context) time.Duration {
	return time.Duration(clock.Of(ctx).Random() * float64(firstBackoff))
}

// pause returns early when the context ends.
func pause(ctx context.Context, d time.Duration) { clock.Of(ctx).Sleep(ctx, d) }
