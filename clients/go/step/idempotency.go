package step

import (
	"context"

	"github.com/tidegate/tidegate/clients/go/internal/replay"
	"github.com/tidegate/tidegate/clients/go/internal/run"
)

// IdempotencyKey names the step whose code has this context: `<run ID>-<hashed ID of the step>`, the same in all of its attempts.
// Give it to a service that acts once for each key, such as Stripe (Idempotency-Key): the step may run again after it has acted, if its
// result was lost. Events and re-runs start new runs, which have other keys.
//
// It panics outside of a step, where code is repeated and a key would protect nothing.
func IdempotencyKey(ctx context.Context) string {
	hashedID := replay.HashedStepOf(ctx)
	if hashedID == "" {
		panic(&replay.Misuse{Message: "step.IdempotencyKey is called outside of a step: call it in the function that step.Run gets, with the context of that function"})
	}
	return run.IdempotencyKey(run.Of(ctx).ID, hashedID)
}
