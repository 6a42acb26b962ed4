// Package outbox is what the package postgres asks of a client.
package outbox

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"
)

// Client sends the events of an outbox.
type Client struct {
	// Prepare checks events, gives those an ID that have none, and hands them on as they will be sent, after the client's middleware.
	// hand returns their IDs.
	Prepare func(ctx context.Context, events []any, hand func(ctx context.Context, prepared []Event) error) ([]string, error)
	// Send sends them under the seed, in as many requests as their size needs, each tried once.
	Send func(ctx context.Context, events []json.RawMessage, seed string) Sent
	// Found says which of the IDs the service has: path is /v1/events/lookup or /v1/runs/lookup.
	Found  func(ctx context.Context, path string, ids []string) (map[string]bool, error)
	Logger func() *slog.Logger
}

// Event is a prepared event.
type Event struct {
	// ID is its deduplication ID.
	ID string
	// JSON of all of it.
	JSON json.RawMessage
}

// Sent is the result of a send.
type Sent struct {
	// IDs are the internal ones of the events that were accepted: the first ones.
	IDs []string
	// Failure is nil if all were accepted.
	Failure *Failure
}

// Failure of the first request that was not accepted.
type Failure struct {
	Message string
	// IsRefused says that the service will never accept one of the events of the request, and Count how many it has. Index is the one at fault, from the
	// beginning of the send; -1: the service does not say.
	IsRefused    bool
	Index, Count int
	// RetryAfter is when the service asks to try again; 0: it does not.
	RetryAfter time.Duration
}
