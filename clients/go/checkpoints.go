package tidegate

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/tidegate/tidegate/clients/go/internal/replay"
)

const (
	// maxBufferedLength of steps, in bytes: with one more step, the largest, a response still has room for them.
	maxBufferedLength = 1_048_576
	storeTimeout      = 10 * time.Second
	// slowStore: a request that fails sooner costs a call little.
	slowStore       = time.Second
	checkpointPause = time.Minute
)

// checkpoints of an app's functions: one call runs several steps, and stores each while it continues
// (docs/protocol.md#checkpoints).
type checkpoints struct {
	// pausedUntil, in nanoseconds since 1970: until then no call tries. The service rejects them or does not respond, and
	// each step would wait in vain.
	pausedUntil atomic.Int64
	groups      checkpointGroups
}

// sendCheckpoint sends the body of a checkpoint to the service, and returns the status of the response.
type sendCheckpoint func(ctx context.Context, runID string, body []byte) (int, error)

// of a call is nil when each step ends it. onStored is called when steps are stored.
func (k *checkpoints) of(ctx context.Context, f *function, c call, s settings, send sendCheckpoint, onStored func()) *callCheckpoints {
	options := f.checkpoint
	if options == nil {
		options = s.options.Checkpoint
	}
	if options == nil {
		options = &Checkpoint{Off: s.serverless()}
	}
	alone := c.replay.RequestedStep == "" && !c.replay.DisableImmediateExecution
	// In a retry, Input.Attempt is that of the first new step, and would be wrong for later steps.
	if options.Off || !alone || c.attempt > 0 || c.executionID == "" || time.Now().UnixNano() < k.pausedUntil.Load() {
		return nil
	}
	store := func(steps []replay.Op) bool {
		stored := k.store(ctx, c, steps, send)
		if stored {
			onStored()
		}
		return stored
	}
	return &callCheckpoints{store: store, buffer: options.buffer(), endsAt: time.Now().Add(options.maxRuntime())}
}

func (k *checkpoints) store(ctx context.Context, c call, steps []replay.Op, send sendCheckpoint) bool {
	body, err := replay.Encode(fields{"run_id": c.runID, "fn_id": c.functionUUID, "qi_id": c.executionID, "steps": steps})
	if err != nil {
		return false
	}
	start := time.Now()
	status, err := send(ctx, c.runID, body)
	switch {
	case err == nil && status == http.StatusOK:
		return true
	case ctx.Err() != nil:
		// The call itself is over, whatever the service would say.
	case err != nil && time.Since(start) > slowStore, status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusNotFound:
		k.pausedUntil.Store(time.Now().Add(checkpointPause).UnixNano())
	}
	return false
}

// callCheckpoints are of one call.
type callCheckpoints struct {
	// store says whether the service has stored the steps and the call may continue.
	store  func([]replay.Op) bool
	buffer int
	endsAt time.Time
	// unstored steps have finished, and belong into the response, before what ends the call.
	unstored []replay.Op
	length   int
}

// keep stores a finished step, possibly later together with others, and says whether the call continues.
func (k *callCheckpoints) keep(step replay.Op) bool {
	k.unstored = append(k.unstored, step)
	k.length += len(step.Data)
	if !time.Now().Before(k.endsAt) {
		return false
	}
	if len(k.unstored) < k.buffer && k.length < maxBufferedLength {
		return true
	}
	if !k.store(k.unstored) {
		return false
	}
	k.unstored, k.length = nil, 0
	return true
}
