package tidegate

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/tidegate/tidegate/clients/go/internal/clock"
	"github.com/tidegate/tidegate/clients/go/internal/outbox"
	"github.com/tidegate/tidegate/clients/go/internal/replay"
	"github.com/tidegate/tidegate/clients/go/internal/seed"
	"github.com/tidegate/tidegate/clients/go/internal/timing"
)

// outboxTryTimeout is less than the lease of the rows that are being sent.
const outboxTryTimeout = 20 * time.Second

// OutboxForPostgres is for the package postgres; other packages cannot use its result.
func (c *Client) OutboxForPostgres() outbox.Client {
	return outbox.Client{
		Prepare: c.prepareForOutbox,
		Send:    c.sendOfOutbox,
		Found:   c.found,
		Logger:  func() *slog.Logger { return settings{options: c.options}.logger() },
	}
}

func (c *Client) prepareForOutbox(ctx context.Context, events []any, hand func(context.Context, []outbox.Event) error) ([]string, error) {
	maxBytes := settings{options: c.options}.maxBytes()
	return c.middleware().send(ctx, SendCall{}, events, func(ctx context.Context, events []any) ([]string, error) {
		prepared := make([]outbox.Event, len(events))
		ids := make([]string, len(events))
		for i, event := range events {
			var err error
			if prepared[i], err = preparedEvent(event, i, maxBytes); err != nil {
				return nil, err
			}
			ids[i] = prepared[i].ID
		}
		return ids, hand(ctx, prepared)
	})
}

// preparedEvent fails where the service would refuse the event for sure: then it is too late for the transaction.
func preparedEvent(event any, index, maxBytes int) (outbox.Event, error) {
	none := outbox.Event{}
	text, err := encodeEvent(event, index)
	if err != nil {
		return none, err
	}
	fields := fieldsOf(text)
	if textOf(fields["name"]) == "" {
		return none, fmt.Errorf("event %d needs a name, a text", index)
	}
	if data := fields["data"]; isAbsent(data) {
		fields["data"] = json.RawMessage("{}")
	} else if data[0] != '{' {
		return none, fmt.Errorf("the data of event %d (%q) is not a JSON object", index, textOf(fields["name"]))
	}
	id := textOf(fields["id"])
	if id == "" && !isAbsent(fields["id"]) && string(fields["id"]) != `""` {
		return none, fmt.Errorf("the ID of event %d (%q) is not a text", index, textOf(fields["name"]))
	}
	if id == "" {
		id = rand.Text()
		fields["id"] = json.RawMessage(`"` + id + `"`)
	}
	if text, err = replay.Encode(fields); err != nil {
		return none, err
	}
	if len(text)+2 > maxBytes {
		return none, tooLarge(text, index, maxBytes)
	}
	return outbox.Event{ID: id, JSON: text}, nil
}

func (c *Client) sendOfOutbox(ctx context.Context, events []json.RawMessage, seedOfAll string) outbox.Sent {
	s, err := c.settings()
	if err != nil {
		return notSent(err)
	}
	given := make([]any, len(events))
	for i, event := range events {
		if len(event)+2 > s.maxBytes() {
			// Somebody with another limit has stored it.
			return outbox.Sent{Failure: &outbox.Failure{Message: tooLarge(event, i, s.maxBytes()).Error(), IsRefused: true, Index: i, Count: 1}}
		}
		given[i] = event
	}
	chunks, err := splitByBytes(given, s.maxBytes())
	if err != nil {
		return notSent(err)
	}
	var sent outbox.Sent
	for len(chunks) > 0 {
		chunk := chunks[0]
		chunks = chunks[1:]
		accepted, failed, err := tryOfOutbox(ctx, chunk, seedOfAll, s)
		if err != nil {
			failed = &failure{message: err.Error()}
		}
		if failed == nil {
			sent.IDs = append(sent.IDs, accepted...)
			continue
		}
		if smaller := splitRest(given, chunk, failed.limitBytes); smaller != nil {
			chunks = smaller
			continue
		}
		end := len(events)
		if len(chunks) > 0 {
			end = chunks[0].index
		}
		sent.Failure = failed.ofOutbox(chunk.index, end, clock.Of(ctx).Now())
		break
	}
	return sent
}

func notSent(err error) outbox.Sent {
	return outbox.Sent{Failure: &outbox.Failure{Message: err.Error(), Index: -1}}
}

func tryOfOutbox(ctx context.Context, part chunk, seedOfAll string, s settings) ([]string, *failure, error) {
	seedOfChunk, err := seed.From(seedOfAll, part.index)
	if err != nil {
		return nil, nil, err
	}
	timed, cancel := context.WithTimeout(ctx, outboxTryTimeout)
	defer cancel()
	return tryOnce(timed, postRequest{body: part.body, seed: seedOfChunk}, s)
}

// ofOutbox is of a request with the events from first to end.
func (f *failure) ofOutbox(first, end int, now time.Time) *outbox.Failure {
	told := &outbox.Failure{Message: f.message, Index: -1, Count: end - first}
	told.IsRefused = f.status == http.StatusBadRequest || f.status == http.StatusRequestEntityTooLarge
	if f.index != nil && *f.index >= 0 && *f.index < told.Count {
		told.Index = first + *f.index
	} else if told.Count == 1 {
		told.Index = first
	}
	if asked, ok := timing.RetryAfter(f.retryAfter, now); ok {
		told.RetryAfter = asked
	}
	return told
}

func (c *Client) found(ctx context.Context, path string, ids []string) (map[string]bool, error) {
	body, err := replay.Encode(fields{"ids": ids})
	if err != nil {
		return nil, err
	}
	a, err := c.post(ctx, path, body)
	if err != nil {
		return nil, err
	}
	var told struct {
		Data []struct {
			ID    string `json:"id"`
			Found *bool  `json:"found"`
		} `json:"data"`
	}
	if !a.ok() {
		return nil, refusedBy(a, "the look-up at "+path)
	}
	if err := json.Unmarshal(a.body, &told); err != nil {
		return nil, fmt.Errorf("the response of the look-up at %s: %w", path, err)
	}
	found := map[string]bool{}
	for _, one := range told.Data {
		if one.Found != nil {
			found[one.ID] = *one.Found
		}
	}
	for _, id := range ids {
		if _, there := found[id]; !there {
			return nil, fmt.Errorf("the look-up at %s says nothing of %q", path, id)
		}
	}
	return found, nil
}
