package postgres_test

import (
	"context"
	"crypto/sha1"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/step"
	"github.com/tidegate/tidegate/clients/go/tidegatetest"
)

type input = tidegate.Input[map[string]any]

type booking struct {
	Number int64 `json:"number"`
}

// book writes a booking and does more within the same transaction; write is one of the library's statements.
type book func(ctx context.Context, id string, more func() error) (booking, error)

// libraries by name: each books in the database.
func (d database) libraries(t *testing.T) map[string]book {
	const insert = "insert into bookings values ($1)"
	ofSQL := func(library string) book {
		db := d.open(t, library)
		return func(ctx context.Context, id string, more func() error) (booking, error) {
			return step.Transaction(ctx, id, db, func(ctx context.Context, tx *sql.Tx) (booking, error) {
				if _, err := tx.ExecContext(ctx, insert, id); err != nil {
					return booking{}, err
				}
				return booking{7}, more()
			})
		}
	}
	return map[string]book{
		"pgx in database/sql": ofSQL("pgx"),
		"lib/pq":              ofSQL("postgres"),
		"pgx": func(ctx context.Context, id string, more func() error) (booking, error) {
			return step.TransactionPgx(ctx, id, d.pool, func(ctx context.Context, tx pgx.Tx) (booking, error) {
				if _, err := tx.Exec(ctx, insert, id); err != nil {
					return booking{}, err
				}
				return booking{7}, more()
			})
		},
	}
}

func onEach(t *testing.T, d database, test func(t *testing.T, run book)) {
	for name, run := range d.libraries(t) {
		t.Run(name, func(t *testing.T) {
			d.exec(t, "truncate bookings, tidegate_steps")
			test(t, run)
		})
	}
}

// operation is what a call asks the service for.
type operation struct {
	Op    string
	Data  json.RawMessage
	Opts  map[string]any
	Error struct{ Name, Message string }
}

// call is one call of a function with the step "book" in the run, as the service makes it. It returns the only operation of the response.
func call(t *testing.T, runID string, run book, more func() error) operation {
	t.Helper()
	client := newClient(t, tidegate.ClientOpts{})
	fn := must(tidegate.CreateFunction(client, tidegate.FunctionOpts{ID: "fn"}, tidegate.EventTrigger("order/paid"), func(ctx context.Context, _ input) (any, error) {
		return run(ctx, "book", more)
	}))
	body := map[string]any{
		"event": map[string]any{"name": "order/paid", "data": map[string]any{}, "id": "01E", "ts": 1},
		"steps": map[string]any{},
		"ctx":   map[string]any{"run_id": runID, "stack": map[string]any{"stack": []string{}}},
	}
	response := must(tidegate.Serve(client, tidegate.ServeOpts{}, fn)).Answer(t.Context(), tidegate.AppRequest{Method: http.MethodPost, URL: "/?fnId=shop-fn&stepId=step", Body: body})
	var ops []operation
	if err := json.Unmarshal(response.Body, &ops); err != nil || len(ops) != 1 {
		t.Fatalf("got %d %s", response.Status, response.Body)
	}
	return ops[0]
}

func nothing() error { return nil }

func TestATransactionActsOnceHoweverOftenItsStepIsTried(t *testing.T) {
	d := newDatabase(t)
	onEach(t, d, func(t *testing.T, run book) {
		for range 3 {
			op := call(t, "run-1", run, nothing)
			expect(t, "operation", fmt.Sprint(op.Op, string(op.Data), op.Opts["type"]), `StepRun{"number":7}step.transaction`)
		}
		expect(t, "bookings", d.text(t, "select count(*) from bookings"), "1")
		hashed := sha1.Sum([]byte("book"))
		expect(t, "rows", d.text(t, "select string_agg(run_id || step_id || result, '') from tidegate_steps"), "run-1"+hex.EncodeToString(hashed[:])+`{"number":7}`)
		call(t, "run-2", run, nothing)
		expect(t, "bookings of two runs", d.text(t, "select count(*) from bookings"), "2")
	})
}

func TestATransactionThatFailsIsRolledBackAndTriedAgain(t *testing.T) {
	d := newDatabase(t)
	onEach(t, d, func(t *testing.T, run book) {
		op := call(t, "run-1", run, func() error { return errors.New("no seat") })
		expect(t, "operation", op.Op+" "+op.Error.Message, "StepError no seat")
		op = call(t, "run-1", run, func() error { panic("no seat") })
		expect(t, "operation", op.Op+" "+op.Error.Name, "StepError PanicError")
		op = call(t, "run-1", run, func() error { return tidegate.NonRetriable(errors.New("no seat ever")) })
		expect(t, "operation", op.Op, "StepFailed")
		expect(t, "rows", d.text(t, "select count(*) from bookings, tidegate_steps"), "0")
		call(t, "run-1", run, nothing)
		expect(t, "rows", d.text(t, "select count(*) from bookings, tidegate_steps"), "1")
	})
}

func TestTwoAttemptsThatOverlapActOnce(t *testing.T) {
	d := newDatabase(t)
	onEach(t, d, func(t *testing.T, run book) {
		inside, goOn := make(chan struct{}), make(chan struct{})
		var both sync.WaitGroup
		both.Go(func() {
			call(t, "run-1", run, func() error { close(inside); <-goOn; return nil })
		})
		<-inside
		both.Go(func() {
			op := call(t, "run-1", run, func() error { t.Error("it acted again"); return nil })
			expect(t, "result of the second", string(op.Data), `{"number":7}`)
		})
		for d.text(t, "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query like 'insert into tidegate_steps%'") != "1" {
		}
		close(goOn)
		both.Wait()
		expect(t, "bookings", d.text(t, "select count(*) from bookings"), "1")
	})
}

func TestSerializationFailuresAndDeadlocksAreTriedAgainInside(t *testing.T) {
	d := newDatabase(t)
	onEach(t, d, func(t *testing.T, run book) {
		tries := 0
		op := call(t, "run-1", run, func() error {
			tries++
			if tries <= 10 {
				return fmt.Errorf("booking: %w", &pgconn.PgError{Code: map[bool]string{true: "40001", false: "40P01"}[tries%2 == 0]})
			}
			return nil
		})
		expect(t, "operation", op.Op, "StepRun")
		expect(t, "tries", tries, 11)
		op = call(t, "run-2", run, func() error { return &pgconn.PgError{Code: "40001", Message: "always"} })
		expect(t, "operation", op.Op, "StepError")
		expect(t, "bookings", d.text(t, "select count(*) from bookings"), "1")
	})
}

func TestARealSerializationFailureIsTriedAgain(t *testing.T) {
	d := newDatabase(t)
	d.exec(t, "create table seats (n int)")
	d.exec(t, "insert into seats values (10)")
	db := d.open(t, "postgres")
	var runs sync.WaitGroup
	for i := range 8 {
		runs.Go(func() {
			sell := func(ctx context.Context, id string, _ func() error) (booking, error) {
				return step.Transaction(ctx, id, db, func(ctx context.Context, tx *sql.Tx) (booking, error) {
					var n int64
					if err := tx.QueryRowContext(ctx, "select n from seats").Scan(&n); err != nil {
						return booking{}, err
					}
					_, err := tx.ExecContext(ctx, "update seats set n = $1", n-1)
					return booking{n}, err
				}, step.Isolation(sql.LevelRepeatableRead))
			}
			runID := fmt.Sprint("run-", i)
			for call(t, runID, sell, nothing).Op != "StepRun" {
			}
		})
	}
	runs.Wait()
	expect(t, "seats left", d.text(t, "select n from seats"), "2")
}

func TestWhatATransactionCannotStoreIsRolledBack(t *testing.T) {
	d := newDatabase(t)
	large := func(ctx context.Context, id string, _ func() error) (string, error) {
		return step.TransactionPgx(ctx, id, d.pool, func(ctx context.Context, tx pgx.Tx) (string, error) {
			_, err := tx.Exec(ctx, "insert into bookings values ('large')")
			return strings.Repeat("x", 4*1_024*1_024-10), err
		})
	}
	op := call(t, "run-1", func(ctx context.Context, id string, _ func() error) (booking, error) {
		_, err := large(ctx, id, nothing)
		return booking{}, err
	}, nothing)
	expect(t, "error", op.Op+" "+op.Error.Name, "StepFailed OutputTooLarge")
	expect(t, "message", op.Error.Message, `the output of step "book" has 4194305 bytes, more than 4194304; store large data elsewhere and return a reference`)
	expect(t, "bookings", d.text(t, "select count(*) from bookings"), "0")
}

func TestATransactionWithoutItsTableSaysHowToMakeIt(t *testing.T) {
	d := newDatabase(t)
	onEach(t, d, func(t *testing.T, run book) {
		d.exec(t, "alter table tidegate_steps rename to elsewhere")
		defer d.exec(t, "alter table elsewhere rename to tidegate_steps")
		if op := call(t, "run-1", run, nothing); !strings.Contains(op.Error.Message, "`tidegate outbox migrate --print`") {
			t.Errorf("got %q", op.Error.Message)
		}
	})
}

func TestATransactionThatItsFunctionEndsIsAnError(t *testing.T) {
	d := newDatabase(t)
	db := d.open(t, "pgx")
	commits := func(ctx context.Context, id string, _ func() error) (booking, error) {
		return step.Transaction(ctx, id, db, func(_ context.Context, tx *sql.Tx) (booking, error) { return booking{}, tx.Commit() })
	}
	for _, want := range []string{"transaction has already been committed", "leave Commit and Rollback to the step"} {
		if op := call(t, "run-1", commits, nothing); !strings.Contains(op.Error.Message, want) {
			t.Errorf("got %q", op.Error.Message)
		}
	}
}

func TestInATestATransactionIsStubbedOrRunsOnARealDatabase(t *testing.T) {
	d := newDatabase(t)
	run := d.libraries(t)["pgx"]
	client := newClient(t, tidegate.ClientOpts{})
	fn := must(tidegate.CreateFunction(client, tidegate.FunctionOpts{ID: "fn"}, tidegate.EventTrigger("order/paid"), func(ctx context.Context, _ input) (any, error) {
		return run(ctx, "book", nothing)
	}))
	stubbed := tidegatetest.Run(t, fn, tidegatetest.Opts{Steps: map[string]any{"book": booking{8}}})
	expect(t, "output", string(stubbed.Output), `{"number":8}`)
	expect(t, "bookings", d.text(t, "select count(*) from bookings"), "0")
	for range 2 {
		result := tidegatetest.Run(t, fn, tidegatetest.Opts{Failures: map[string][]error{"book": {errors.New("busy")}}})
		expect(t, "output", string(result.Output), `{"number":7}`)
		expect(t, "kind", result.Steps[0].Kind, "transaction")
	}
	expect(t, "bookings of two runs", d.text(t, "select count(*) from bookings"), "2")
}
