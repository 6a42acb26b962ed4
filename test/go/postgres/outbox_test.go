package postgres_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/postgres"
)

// orders writes an order and its events in a transaction with each library, and commits it if the events were written.
type orders func(client *tidegate.Client, isCommitted bool, events ...any) ([]string, error)

func (d database) orders(t *testing.T) map[string]orders {
	ofSQL := func(library string) orders {
		db := d.open(t, library)
		return func(client *tidegate.Client, isCommitted bool, events ...any) ([]string, error) {
			tx := must(db.BeginTx(t.Context(), nil))
			defer func() { _ = tx.Rollback() }()
			must(tx.ExecContext(t.Context(), "insert into orders values ('A1')"))
			ids, err := postgres.Outbox(t.Context(), tx, client, events...)
			if err == nil && isCommitted {
				err = tx.Commit()
			}
			return ids, err
		}
	}
	return map[string]orders{
		"pgx in database/sql": ofSQL("pgx"),
		"lib/pq":              ofSQL("postgres"),
		"pgx": func(client *tidegate.Client, isCommitted bool, events ...any) ([]string, error) {
			tx := must(d.pool.Begin(t.Context()))
			defer func() { _ = tx.Rollback(context.Background()) }()
			must(tx.Exec(t.Context(), "insert into orders values ('A1')"))
			ids, err := postgres.OutboxPgx(t.Context(), tx, client, events...)
			if err == nil && isCommitted {
				err = tx.Commit(t.Context())
			}
			return ids, err
		},
	}
}

// relays by library.
func (d database) relays(t *testing.T, client *tidegate.Client, options postgres.RelayOpts) map[string]func() *postgres.Relay {
	ofSQL := func(db *sql.DB) func() *postgres.Relay {
		return func() *postgres.Relay { return postgres.NewRelay(client, db, options) }
	}
	return map[string]func() *postgres.Relay{
		"pgx in database/sql": ofSQL(d.open(t, "pgx")),
		"lib/pq":              ofSQL(d.open(t, "postgres")),
		"pgx":                 func() *postgres.Relay { return postgres.NewRelayPgx(client, d.pool, options) },
	}
}

func event(id string) tidegate.Event {
	return tidegate.Event{Name: "order/paid", ID: &id, Data: map[string]any{"total": 7}}
}

func TestEventsAreWrittenInTheTransactionOfTheApp(t *testing.T) {
	d := newDatabase(t)
	client := newClient(t, tidegate.ClientOpts{})
	for name, order := range d.orders(t) {
		t.Run(name, func(t *testing.T) {
			d.exec(t, "truncate orders, tidegate_outbox")
			odd := event("1")
			odd.Data["any"] = "<\x00\\\"ü>"
			ids := must(order(client, true, odd, postgres.InOrder("ada", tidegate.Event{Name: "order/booked", Timestamp: 5})))
			if len(ids) != 2 || ids[0] != "1" || len(ids[1]) < 20 {
				t.Errorf("got the IDs %q", ids)
			}
			got := d.text(t, "select string_agg(coalesce(order_key, '-') || event::text || state, ' ' order by position) from tidegate_outbox")
			expect(t, "rows", got, `-{"data":{"any":"<\u0000\\\"ü>","total":7},"id":"1","name":"order/paid"}waiting ada{"data":{},"id":"`+ids[1]+`","name":"order/booked","ts":5}waiting`)
			must(order(client, false, event("3")))
			expect(t, "rows after a rollback", d.text(t, "select count(*) from tidegate_outbox"), "2")
			expect(t, "orders after a rollback", d.text(t, "select count(*) from orders"), "1")
			d.exec(t, "truncate tidegate_outbox")
			many := make([]any, 2_001)
			for i := range many {
				many[i] = event(fmt.Sprint(i))
			}
			must(order(client, true, many...))
			expect(t, "rows in order", d.text(t, "select count(*) from (select event->>'id' as id, row_number() over (order by position) as number from tidegate_outbox) as row where id = (number - 1)::text"), "2001")
		})
	}
}

func TestEventsThatCannotBeSentAreNotWritten(t *testing.T) {
	d := newDatabase(t)
	client := newClient(t, tidegate.ClientOpts{MaxBytes: 1_000})
	order := d.orders(t)["pgx"]
	for want, wrong := range map[string]any{
		"event 1 needs a name":      tidegate.Event{},
		"is not a JSON object":      map[string]any{"name": "x", "data": []int{1}},
		"not an event":              "text",
		"as JSON, and a request":    tidegate.Event{Name: "x", Data: map[string]any{"x": strings.Repeat("x", 1_000)}},
		"cannot be written as JSON": tidegate.Event{Name: "x", Data: map[string]any{"x": make(chan int)}},
		"U+0000":                    postgres.InOrder("\x00", event("2")),
		"event 1 (\"x\") is not a":  map[string]any{"name": "x", "id": 7},
	} {
		if _, err := order(client, true, event("1"), wrong); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
	expect(t, "rows", d.text(t, "select count(*) from tidegate_outbox"), "0")
	d.exec(t, "drop table tidegate_outbox")
	if _, err := order(client, true, event("1")); err == nil || !strings.Contains(err.Error(), "`tidegate outbox migrate --print`") {
		t.Errorf("got %v", err)
	}
}

func TestMiddlewareEncodesWhatIsWritten(t *testing.T) {
	d := newDatabase(t)
	client := newClient(t, tidegate.ClientOpts{Middleware: []tidegate.Middleware{{
		Name: "secret",
		Encode: func(context.Context, json.RawMessage, tidegate.At) (json.RawMessage, error) {
			return json.RawMessage(`{"secret":true}`), nil
		},
	}}})
	must(d.orders(t)["pgx"](client, true, event("1")))
	expect(t, "data", d.text(t, "select event->'data' from tidegate_outbox"), `{"secret":true}`)
	twice := newClient(t, tidegate.ClientOpts{Middleware: []tidegate.Middleware{{
		Name: "twice",
		OnSend: func(ctx context.Context, call *tidegate.SendCall, next func(context.Context) ([]string, error)) ([]string, error) {
			call.Events = append(call.Events, call.Events...)
			return next(ctx)
		},
	}}})
	if _, err := d.orders(t)["pgx"](twice, true, postgres.InOrder("ada", event("1"))); err == nil || !strings.Contains(err.Error(), "InOrder") {
		t.Errorf("got %v", err)
	}
}

func ExampleOutbox() {
	// In a request of the app: the order and its event are committed together, or neither is.
	placeOrder := func(ctx context.Context, db *sql.DB, client *tidegate.Client, orderID string) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		if _, err := tx.ExecContext(ctx, "insert into orders (id) values ($1)", orderID); err != nil {
			return err
		}
		paid := tidegate.Event{Name: "order/paid", Data: map[string]any{"orderId": orderID}}
		if _, err := postgres.Outbox(ctx, tx, client, paid); err != nil {
			return err
		}
		return tx.Commit()
	}
	fmt.Println(placeOrder != nil)
	// Output: true
}
