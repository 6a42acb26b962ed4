package postgres_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/postgres"
	"github.com/tidegate/tidegate/clients/go/step"
	"github.com/tidegate/tidegate/clients/go/tidegatetest"
)

const page = "../../../docs/exactly-once.md"

// What follows is the example of the page.

type order struct {
	Order string `json:"order"`
}

func placeOrder(ctx context.Context, client *tidegate.Client, pool *pgxpool.Pool, id string) error {
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "insert into orders (id) values ($1)", id); err != nil {
			return err
		}
		placed := tidegate.Event{Name: "order/placed", Data: map[string]any{"order": id}}
		_, err := postgres.OutboxPgx(ctx, tx, client, postgres.InOrder(id, placed))
		return err
	})
}

func bookOf(client *tidegate.Client, pool *pgxpool.Pool) (tidegate.ServableFunction, error) {
	return tidegate.CreateFunction(client, tidegate.FunctionOpts{ID: "book"}, tidegate.EventTrigger("order/placed"),
		func(ctx context.Context, in tidegate.Input[order]) (any, error) {
			return step.TransactionPgx(ctx, "book", pool, func(ctx context.Context, tx pgx.Tx) (number int64, err error) {
				statement := "insert into bookings (order_id) values ($1) returning number"
				err = tx.QueryRow(ctx, statement, in.Event.Data.Order).Scan(&number)
				return number, err
			})
		})
}

func startRelay(ctx context.Context, client *tidegate.Client, pool *pgxpool.Pool) {
	go postgres.NewRelayPgx(client, pool, postgres.RelayOpts{}).Run(ctx)
}

func TestTheExampleOfThePageSendsAndBooksOnce(t *testing.T) {
	d := newDatabase(t)
	s := newService(t, tidegate.ClientOpts{})
	d.exec(t, "alter table bookings add order_id text not null, add number bigint generated always as identity")
	running, stop := context.WithCancel(t.Context())
	defer stop()
	startRelay(running, s.client, d.pool)
	if err := placeOrder(t.Context(), s.client, d.pool, "A1"); err != nil {
		t.Fatal(err)
	}
	d.until(t, "select count(*) from orders where not exists (select from tidegate_outbox)", "1")
	expect(t, "events", len(strings.Fields(s.has())), 1)
	result := tidegatetest.Run(t, must(bookOf(s.client, d.pool)), tidegatetest.Opts{Event: tidegate.Event{Name: "order/placed", Data: map[string]any{"order": "A1"}}})
	expect(t, "output", string(result.Output), "1")
	expect(t, "bookings", d.text(t, "select string_agg(order_id, ' ') from bookings"), "A1")
}

func TestTheExampleOfThePageIsTheOneHere(t *testing.T) {
	_, block, _ := strings.Cut(string(must(os.ReadFile(page))), "```go\n")
	example, _, isClosed := strings.Cut(block, "```\n")
	if !isClosed || !strings.Contains(string(must(os.ReadFile("page_test.go"))), example) {
		t.Errorf("page_test.go lacks this example of %s:\n%s", page, example)
	}
}
