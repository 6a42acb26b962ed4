package replay

import (
	"context"
	"encoding/json"
)

// Hooks read errors of the app; their meaning is not decided here.
type Hooks struct {
	Describe func(error) *WireError
	// Classify says of an error of a step whether it is final, and else when to try again, if it says so.
	Classify func(error) (final bool, retryAfterSeconds *int64)
	// StepError makes the error that a failed step returns in the code.
	StepError func(stepID string, failure *WireError) error
	// Values is nil if values are sent unchanged.
	Values Values
	// HandlerBegan is false when the body has ended before the function's own code; nil: it has no code but that.
	HandlerBegan func() bool
}

// Values stands between the values of steps and the wire.
type Values interface {
	// RunStep runs the step's own code: it calls next, with this context or one made of it.
	RunStep(ctx context.Context, id, name string, next func(context.Context) (any, error)) (any, error)
	// EncodeResult is of a step that was run here.
	EncodeResult(ctx context.Context, found Found, data json.RawMessage) (json.RawMessage, error)
	// EncodeOpts is of a step that the service does.
	EncodeOpts(ctx context.Context, found Found) (map[string]any, error)
	// DecodeResult is of a step that has not failed.
	DecodeResult(ctx context.Context, found Found, data json.RawMessage) (json.RawMessage, error)
}

// Found is what middleware needs of a step that the replayed code has reached.
type Found struct {
	Kind Kind
	// HashedID, and Name on the wire.
	HashedID, Name string
	Opts           map[string]any
}

func (s *step) found() Found { return Found{s.Kind, s.hashedID, s.Name, s.Opts} }
