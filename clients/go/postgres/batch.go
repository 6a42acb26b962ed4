package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidegate/tidegate/clients/go/internal/outbox"
	"github.com/tidegate/tidegate/clients/go/internal/pg"
	"github.com/tidegate/tidegate/clients/go/internal/seed"
)

const (
	maxRows      = 100
	leaseSeconds = 30
	// windowSeconds is an hour less than the service remembers deduplication IDs: events that were first sent longer ago may be accepted twice.
	windowSeconds  = 23 * 3_600
	maxLookUps     = 1_000
	lookUpEvents   = "/v1/events/lookup"
	lookUpRuns     = "/v1/runs/lookup"
	stateRefused   = "refused"
	stateUncertain = "uncertain"
)

// claimed is a row that this relay has leased.
type claimed struct {
	position int64
	event    json.RawMessage
	// key of its order; nil: it has none.
	key *string
	// sends are all, the last one is this relay's.
	sends   pg.Texts
	sentAgo float64
	// number in the send that is under way, from 1.
	number int
}

// batch is what a relay has leased at once.
type batch struct {
	relay *Relay
	seed  string
	// rows that wait for their send, in order.
	rows []claimed
	// held are rows that cannot be sent now, though others can.
	held []claimed
}

// claim leases the next rows, and has written into them under which ID each may be accepted, before that can happen.
func (r *Relay) claim(ctx context.Context) (*batch, error) {
	b := &batch{relay: r, seed: seed.New(time.Now())}
	read := func(scan func(...any) error) error {
		var row claimed
		var event string
		if err := scan(&row.position, &event, &row.key, &row.sends, &row.sentAgo); err != nil {
			return err
		}
		row.event = json.RawMessage(event)
		_, number, err := numbered(row.sends[len(row.sends)-1])
		row.number = number
		b.rows = append(b.rows, row)
		return err
	}
	err := r.query(ctx, pg.OutboxClaim, []any{maxRows, leaseSeconds, b.seed}, read)
	slices.SortFunc(b.rows, func(a, c claimed) int { return cmp.Compare(a.position, c.position) })
	return b, pg.Explain(err, "tidegate_outbox")
}

// numbered splits `<seed>,<number>`.
func numbered(send string) (seed string, number int, err error) {
	at := strings.LastIndexByte(send, ',')
	if at < 0 {
		return "", 0, fmt.Errorf("a send of an outbox is <seed>,<number>; got %q", send)
	}
	number, err = strconv.Atoi(send[at+1:])
	return send[:at], number, err
}

// send sends the rows in order, and gives back what it could not send. Its error says why.
func (b *batch) send(ctx context.Context) error {
	unknown := b.decideOld(ctx)
	var err error
	for err == nil && len(b.rows) > 0 {
		err = b.sendNext(ctx)
	}
	err = cmp.Or(err, unknown)
	if unsent := append(b.held, b.rows...); len(unsent) > 0 {
		failed := b.relay.query(ctx, pg.OutboxRelease, []any{positionsOf(unsent)}, nil)
		err = cmp.Or(err, failed)
	}
	return err
}

// notSent is a send that is worth another try.
type notSent struct {
	message    string
	retryAfter time.Duration
}

func (e *notSent) Error() string { return e.message }

// sendNext sends the rows up to a gap in their numbers, where a row was decided without being sent.
func (b *batch) sendNext(ctx context.Context) error {
	count := 1
	for count < len(b.rows) && b.rows[count].number == b.rows[0].number+count {
		count++
	}
	return b.sendSome(ctx, count)
}

func (b *batch) sendSome(ctx context.Context, count int) error {
	own, err := seed.From(b.seed, b.rows[0].number-1)
	if err != nil {
		return err
	}
	events := make([]json.RawMessage, count)
	for i := range events {
		events[i] = b.rows[i].event
	}
	sent := b.relay.client.Send(ctx, events, own)
	if err := b.acknowledge(ctx, sent.IDs); err != nil {
		return err
	}
	failure := sent.Failure
	switch {
	case failure == nil:
		return nil
	case !failure.IsRefused:
		return &notSent{failure.Message, failure.RetryAfter}
	case failure.Index >= 0:
		return b.end(ctx, failure.Index-len(sent.IDs), stateRefused, failure.Message)
	default:
		return b.findRefused(ctx, failure.Count)
	}
}

// findRefused sends the rows of a request one by one, of which the service has refused one without saying which.
func (b *batch) findRefused(ctx context.Context, count int) error {
	for range count {
		if err := b.sendSome(ctx, 1); err != nil {
			return err
		}
	}
	return nil
}

// acknowledge ends the first rows, as many as there are IDs.
func (b *batch) acknowledge(ctx context.Context, ids []string) error {
	count := min(len(ids), len(b.rows))
	return b.accepted(ctx, b.take(func(i int) bool { return i < count }), ids[:count])
}

func (b *batch) accepted(ctx context.Context, rows []claimed, ids []string) error {
	if len(rows) == 0 {
		return nil
	}
	if b.relay.options.KeepDays > 0 {
		return b.relay.query(ctx, pg.OutboxAcknowledge, []any{positionsOf(rows), pg.TextArray(ids)}, nil)
	}
	return b.relay.query(ctx, pg.OutboxDelete, []any{positionsOf(rows)}, nil)
}

// end takes a row out that will not be sent.
func (b *batch) end(ctx context.Context, index int, state, reason string) error {
	row := b.take(func(i int) bool { return i == index })
	b.relay.client.Logger().ErrorContext(ctx, "An event of the outbox is "+state, "position", row[0].position, "error", reason)
	return b.relay.query(ctx, pg.OutboxEnd, []any{positionsOf(row), state, pg.TextArray([]string{reason})}, nil)
}

// take removes rows from the waiting rows, and returns them.
func (b *batch) take(which func(i int) bool) []claimed {
	var taken, left []claimed
	for i, row := range b.rows {
		if which(i) {
			taken = append(taken, row)
		} else {
			left = append(left, row)
		}
	}
	b.rows = left
	return taken
}

// decideOld looks up what was first sent so long ago that the service may have forgotten its deduplication ID. Nothing is guessed: without a response
// none of it is sent.
func (b *batch) decideOld(ctx context.Context) error {
	candidates := map[int64][]string{}
	var all []string
	for _, row := range b.rows {
		if row.sentAgo < windowSeconds {
			continue
		}
		for _, send := range row.sends[:len(row.sends)-1] {
			of, number, err := numbered(send)
			if err != nil {
				return err
			}
			id, err := seed.ID(of, number)
			if err != nil {
				return err
			}
			candidates[row.position] = append(candidates[row.position], id)
			all = append(all, id)
		}
	}
	if len(all) == 0 {
		return nil
	}
	found, err := foundOf(ctx, b.relay.client, lookUpEvents, all)
	if err != nil {
		b.hold(candidates)
		return &notSent{message: "what was sent long ago could not be looked up: " + err.Error()}
	}
	return b.decide(ctx, candidates, found)
}

// hold takes out the rows that cannot be decided, and those behind them in their order.
func (b *batch) hold(undecided map[int64][]string) {
	keys := map[string]bool{}
	b.held = b.take(func(i int) bool {
		row := b.rows[i]
		isHeld := undecided[row.position] != nil || (row.key != nil && keys[*row.key])
		if isHeld && row.key != nil {
			keys[*row.key] = true
		}
		return isHeld
	})
}

func (b *batch) decide(ctx context.Context, candidates map[int64][]string, found map[string]bool) error {
	retention := float64(b.relay.options.RetentionDays) * 24 * 3_600
	for index := 0; index < len(b.rows); {
		row := b.rows[index]
		ids := candidates[row.position]
		accepted := slices.IndexFunc(ids, func(id string) bool { return found[id] })
		var err error
		switch {
		case accepted >= 0:
			err = b.accepted(ctx, b.take(func(i int) bool { return i == index }), ids[accepted:accepted+1])
		case len(ids) > 0 && row.sentAgo >= retention:
			reason := fmt.Sprintf("It was first sent %.0f days ago, and the service keeps events for %d days: nobody can tell whether it was accepted", row.sentAgo/86_400, b.relay.options.RetentionDays)
			err = b.end(ctx, index, stateUncertain, reason)
		default:
			index++
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// foundOf asks for as many at a time as the service takes.
func foundOf(ctx context.Context, client outbox.Client, path string, ids []string) (map[string]bool, error) {
	found := map[string]bool{}
	for part := range slices.Chunk(ids, maxLookUps) {
		some, err := client.Found(ctx, path, part)
		if err != nil {
			return nil, err
		}
		for id, is := range some {
			found[id] = is
		}
	}
	return found, nil
}

func positionsOf(rows []claimed) string {
	positions := make([]int64, len(rows))
	for i, row := range rows {
		positions[i] = row.position
	}
	return pg.Numbers(positions)
}
