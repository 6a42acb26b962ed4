package step

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tidegate/tidegate/clients/go/internal/pg"
	"github.com/tidegate/tidegate/clients/go/internal/replay"
	"github.com/tidegate/tidegate/clients/go/internal/run"
)

// TransactionOption changes one step.
type TransactionOption func(*transactionOptions)

type transactionOptions struct{ begins string }

// Isolation of the transaction. Default: the connection's.
func Isolation(level sql.IsolationLevel) TransactionOption {
	return func(o *transactionOptions) {
		o.begins = ""
		if level != sql.LevelDefault {
			o.begins = "set transaction isolation level " + strings.ToLower(level.String())
		}
	}
}

// Transaction runs do in a transaction of the app's own Postgres, which also stores the result of the step in the table tidegate_steps: what do
// writes with tx happens exactly once, whatever dies when. An attempt that finds a stored result returns it and does not run do.
//
// An error or panic of do rolls back, and only this step is retried. So is what Postgres ended with a serialization failure or a deadlock, at once and up to
// ten times, inside of the attempt: do can run more than once, but only one run of it is committed. It leaves Commit and Rollback to the step, and
// writes with nothing but tx. db is a *sql.DB or a *sql.Conn, over pgx (stdlib) or lib/pq; pools of pgx have [TransactionPgx].
//
// `tidegate outbox migrate --print` prints the tables for the app's migrations. A replay of the event, or a re-run, is another run, and acts again.
func Transaction[T any](
	ctx context.Context,
	id string,
	db interface {
		BeginTx(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error)
	},
	do func(ctx context.Context, tx *sql.Tx) (T, error),
	options ...TransactionOption,
) (T, error) {
	begin := func(ctx context.Context) (*sql.Tx, pg.Tx, error) {
		tx, err := db.BeginTx(ctx, nil)
		return tx, pg.TxOfSQL(tx), err
	}
	return transaction(ctx, id, begin, do, options)
}

// TransactionPgx is [Transaction] for pgx: pool is a *pgxpool.Pool or a *pgx.Conn, and tx a pgx.Tx. This module does not require pgx, so the types are
// described by their methods; they never need to be written:
//
//	booking, err := step.TransactionPgx(ctx, "book", pool, func(ctx context.Context, tx pgx.Tx) (Booking, error) { … })
func TransactionPgx[T any, X pg.PgxTx[R], O any, R pg.PgxRows](
	ctx context.Context,
	id string,
	pool interface {
		BeginTx(ctx context.Context, opts O) (X, error)
	},
	do func(ctx context.Context, tx X) (T, error),
	options ...TransactionOption,
) (T, error) {
	begin := func(ctx context.Context) (X, pg.Tx, error) {
		var defaults O
		tx, err := pool.BeginTx(ctx, defaults)
		return tx, pg.TxOfPgx[R](tx), err
	}
	return transaction(ctx, id, begin, do, options)
}

func transaction[T, X any](
	ctx context.Context,
	id string,
	begin func(context.Context) (X, pg.Tx, error),
	do func(context.Context, X) (T, error),
	options []TransactionOption,
) (T, error) {
	var o transactionOptions
	for _, option := range options {
		option(&o)
	}
	return decode[T](id)(replay.Do(ctx, replay.Description{
		Kind: replay.KindRun,
		ID:   id,
		Opts: map[string]any{"type": "step.transaction"},
		Own:  true,
		Run: func(ctx context.Context, hashedID string) (any, error) {
			once := pg.Step[X]{
				RunID:    run.Of(ctx).ID,
				HashedID: hashedID,
				Name:     id,
				Begins:   o.begins,
				Begin:    begin,
				Do:       func(ctx context.Context, tx X) (any, error) { return do(ctx, tx) },
			}
			result, err := once.Once(ctx)
			if err != nil {
				return nil, err
			}
			// Middleware gets the type that it gets of step.Run.
			var value T
			if err := json.Unmarshal(result, &value); err != nil {
				return nil, fmt.Errorf("the result of step %q does not fit %T: %w", id, value, err)
			}
			return value, nil
		},
	}))
}
