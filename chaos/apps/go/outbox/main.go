// The app in Go with a Postgres of its own. It writes orders with an event each, and books each order in a step, until it kills itself at the point DIES_AT.
// It listens on PORT, prints {"url": …} as its first line, and exits when its stdin closes. APP_DATABASE_URL is its Postgres, with the client's tables,
// orders (id) and bookings (order_id, run_id). It writes orders if ORDERS is 1. ORDER_EVENT is the name of their events, by default chaos/order, and
// APP_ID that of the app.
package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"io"
	"log"
	"log/slog"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/postgres"
	"github.com/tidegate/tidegate/clients/go/step"
)

const (
	path    = "/api/service"
	retries = 20
	// rolledBack is one in so many orders.
	rolledBack = 8
	pause      = 50 * time.Millisecond
	pauseAfter = 100 * time.Millisecond
)

type data struct {
	Order string `json:"order"`
}

// app writes orders with pgx, and books with database/sql.
type app struct {
	client *tidegate.Client
	pool   *pgxpool.Pool
	db     *sql.DB
	event  string
}

func main() {
	death := deathOf(os.Getenv("DIES_AT"), os.Getenv("DIES_AFTER"))
	config := must(pgxpool.ParseConfig(os.Getenv("APP_DATABASE_URL")))
	config.ConnConfig.Tracer = death
	pool := must(pgxpool.NewWithConfig(context.Background(), config))
	client := must(tidegate.NewClient(tidegate.ClientOpts{
		AppID:      cmp.Or(os.Getenv("APP_ID"), "chaos-exactly-once"),
		HTTPClient: &http.Client{Transport: death},
		Logger:     slog.New(slog.DiscardHandler),
	}))
	a := app{client, pool, stdlib.OpenDBFromPool(pool), cmp.Or(os.Getenv("ORDER_EVENT"), "chaos/order")}
	options := tidegate.FunctionOpts{ID: "booked", Retries: tidegate.Ptr(retries)}
	booked := must(tidegate.CreateFunction(client, options, tidegate.EventTrigger(a.event), a.book))
	served := must(tidegate.Serve(client, tidegate.ServeOpts{Path: path}, booked))
	listener := must(net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT")))
	relay := postgres.NewRelayPgx(client, pool, postgres.RelayOpts{})
	go relay.Run(context.Background())
	fmt.Printf("{\"url\": \"http://%s%s\"}\n", listener.Addr(), path)
	go func() { log.Fatal(http.Serve(listener, death.afterAnswers(served))) }()
	if os.Getenv("ORDERS") == "1" {
		go a.writeOrders(context.Background())
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := relay.Close(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func (a app) writeOrders(ctx context.Context) {
	for {
		if err := a.writeOrder(ctx); err != nil {
			time.Sleep(pauseAfter)
		}
		time.Sleep(pause)
	}
}

func (a app) writeOrder(ctx context.Context) error {
	tx, err := a.pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	id := rand.Text()
	if _, err := tx.Exec(ctx, "insert into orders (id) values ($1)", id); err != nil {
		return err
	}
	event := tidegate.GenericEvent[data]{Name: a.event, ID: &id, Data: data{id}}
	if _, err := postgres.OutboxPgx(ctx, tx, a.client, event); err != nil {
		return err
	}
	if mathrand.IntN(rolledBack) == 0 {
		return tx.Rollback(ctx)
	}
	return tx.Commit(ctx)
}

func (a app) book(ctx context.Context, in tidegate.Input[data]) (any, error) {
	return step.Transaction(ctx, "book", a.db, func(ctx context.Context, tx *sql.Tx) (string, error) {
		_, err := tx.ExecContext(ctx, "insert into bookings (order_id, run_id) values ($1, $2)", in.Event.Data.Order, in.RunID)
		return in.Event.Data.Order, err
	})
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}
