// Package postgres sends events from an app's own Postgres, exactly once: [Outbox] writes them in the app's own transaction, and a [Relay] sends them
// when it is committed. A transaction that is rolled back sends nothing, and an app that dies after the commit has lost nothing.
//
//	tx, err := db.BeginTx(ctx, nil)
//	// … insert the order with tx, then:
//	_, err = postgres.Outbox(ctx, tx, client, tidegate.Event{Name: "order/paid", Data: map[string]any{"orderId": "A1"}})
//	// …
//	err = tx.Commit()
//
// and, once in each process of the app:
//
//	relay := postgres.NewRelay(client, db, postgres.RelayOpts{})
//	go relay.Run(ctx)
//	defer relay.Close(context.Background())
//
// It takes database/sql over pgx (stdlib) or lib/pq, and pgx itself: [OutboxPgx], [NewRelayPgx]. It requires neither. The app's migrations make
// the tables that `tidegate outbox migrate --print` prints; nothing is made behind the app's back.
//
// Steps that write into the same database are [github.com/tidegate/tidegate/clients/go/step.Transaction].
package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/internal/outbox"
	"github.com/tidegate/tidegate/clients/go/internal/pg"
	"github.com/tidegate/tidegate/clients/go/internal/replay"
)

// Outbox writes events into the table tidegate_outbox within the app's transaction, a *sql.Tx or what has its QueryContext. A relay sends them after the
// commit. It returns the events' deduplication IDs (ID): those without one get one, so each counts once, whatever dies when.
//
// Events are what Client.Send takes, or [InOrder]. The client's middleware and MaxBytes apply here: what is in the table is sent unchanged. It fails, and
// has written nothing, if an event has no name, is too large, or is no JSON object; and with the error of the database.
func Outbox(ctx context.Context, tx pg.SQLQuerier, client *tidegate.Client, events ...any) ([]string, error) {
	return write(ctx, pg.OfSQL(tx), client, events)
}

// OutboxPgx is [Outbox] for pgx: tx is a pgx.Tx.
func OutboxPgx[R pg.PgxRows](ctx context.Context, tx pg.PgxQuerier[R], client *tidegate.Client, events ...any) ([]string, error) {
	return write(ctx, pg.OfPgx[R](tx), client, events)
}

// ordered is an event with the key of its order.
type ordered struct {
	key   string
	event any
}

// MarshalJSON is the event without its key.
func (o ordered) MarshalJSON() ([]byte, error) { return replay.Encode(o.event) }

// InOrder has the events of one key, such as the ID of a customer, sent in the order in which they were written: none before those ahead of it. Transactions
// that run at the same time write in the order of their calls of [Outbox].
func InOrder(key string, event any) any { return ordered{key, event} }

// eventsAtOnce are in one statement.
const eventsAtOnce = 1_000

func write(ctx context.Context, tx pg.Querier, client *tidegate.Client, events []any) ([]string, error) {
	if len(events) == 0 {
		return nil, nil
	}
	keys := make([]*string, len(events))
	hasKeys := false
	for i, event := range events {
		o, ok := event.(ordered)
		if !ok {
			continue
		}
		if strings.ContainsRune(o.key, 0) {
			return nil, fmt.Errorf("the key of event %d has the character U+0000, which Postgres does not store", i)
		}
		keys[i], hasKeys = &o.key, true
	}
	return client.OutboxForPostgres().Prepare(ctx, events, func(ctx context.Context, prepared []outbox.Event) error {
		if hasKeys && len(prepared) != len(events) {
			return errors.New("a middleware has added or removed events, so it is not known which of them keep their order (postgres.InOrder)")
		}
		args := make([]any, 0, 2*len(prepared))
		for i, event := range prepared {
			var key *string
			if hasKeys {
				key = keys[i]
			}
			args = append(args, string(event.JSON), key)
		}
		for some := range slices.Chunk(args, 2*eventsAtOnce) {
			if err := tx.Query(ctx, pg.OutboxInsertOf(len(some)/2), some, nil); err != nil {
				return pg.Explain(err, "tidegate_outbox")
			}
		}
		return nil
	})
}
