package tidegate

import (
	"context"
	"fmt"

	"github.com/tidegate/tidegate/clients/go/internal/clock"
	"github.com/tidegate/tidegate/clients/go/internal/seed"
)

// SendOption changes one send.
type SendOption func(*sendOptions)

type sendOptions struct{ seed string }

// WithSeed sends events again with the seed of a SendError, so that each event is stored once.
func WithSeed(seed string) SendOption {
	return func(o *sendOptions) { o.seed = seed }
}

// sendEvents is one logical send: one seed, and one or more requests in sequence, depending on its size.
func sendEvents(ctx context.Context, events []any, s settings, options []SendOption) ([]string, error) {
	o := sendOptions{seed: seed.New(clock.Of(ctx).Now())}
	for _, option := range options {
		option(&o)
	}
	chunks, err := splitByBytes(events, s.maxBytes())
	if err != nil {
		return nil, err
	}
	var ids []string
	for len(chunks) > 0 {
		chunk := chunks[0]
		chunks = chunks[1:]
		seedOfChunk, err := seed.From(o.seed, chunk.index)
		if err != nil {
			return nil, err
		}
		accepted, failure := []string(nil), abandoned(ctx, nil)
		if failure == nil {
			accepted, failure, err = postEvents(ctx, postRequest{body: chunk.body, seed: seedOfChunk}, s)
		}
		if err != nil {
			return nil, err
		}
		if failure != nil {
			// The limit of the event key or environment is smaller than the client's.
			if smaller := splitRest(events, chunk, failure.limitBytes); smaller != nil {
				chunks = smaller
				continue
			}
			return nil, failure.asError(ids, len(events), o.seed)
		}
		ids = append(ids, accepted...)
	}
	return ids, nil
}

func (f *failure) asError(acceptedIDs []string, count int, seed string) *SendError {
	message := f.message
	if len(acceptedIDs) > 0 {
		message += fmt.Sprintf(". The first %d of %d events were accepted", len(acceptedIDs), count)
	}
	return &SendError{
		Message:     message,
		Status:      f.status,
		Code:        f.code,
		RequestID:   f.requestID,
		AcceptedIDs: acceptedIDs,
		Seed:        seed,
		cause:       f.cause,
	}
}
