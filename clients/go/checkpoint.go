package tidegate

import (
	"fmt"
	"time"
)

const (
	defaultMaxRuntime = 10 * time.Second
	maxBuffer         = 100
)

// Checkpoint says how a call continues after a step, once it is stored, instead of ending with the step.
type Checkpoint struct {
	// Off: each step ends its call.
	Off bool
	// Buffer is how many finished steps are stored together. If the app dies, finished steps that are not stored yet run
	// again: at most one less than this. Default: 1, so a finished step never runs again.
	Buffer int
	// MaxRuntime: after this time the call ends with its current step, and the service makes another call. Default: 10 s.
	MaxRuntime time.Duration
}

// check says what is wrong; empty: nothing.
func (c *Checkpoint) check() string {
	switch {
	case c == nil:
		return ""
	case c.Buffer < 0 || c.Buffer > maxBuffer:
		return fmt.Sprintf("Checkpoint.Buffer must be from 1 to %d, got %d", maxBuffer, c.Buffer)
	case c.MaxRuntime < 0:
		return fmt.Sprintf("Checkpoint.MaxRuntime must be a duration, got %s", c.MaxRuntime)
	}
	return ""
}

func (c *Checkpoint) buffer() int { return max(c.Buffer, 1) }

func (c *Checkpoint) maxRuntime() time.Duration {
	if c.MaxRuntime == 0 {
		return defaultMaxRuntime
	}
	return c.MaxRuntime
}
