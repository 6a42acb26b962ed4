// Package postgres_test runs the parts of the client that use an app's own Postgres, with the libraries pgx, pgx in database/sql, and lib/pq. It is a module of
// its own, so that the client requires none of them.
package postgres_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/lib/pq"

	tidegate "github.com/tidegate/tidegate/clients/go"
)

// cases have the schema that the command line prints.
const cases = "../../../clients/conformance/postgres.json"

// database is a schema of its own, with the client's tables, and tables of orders and bookings.
type database struct {
	url string
	// pool is for the test itself.
	pool *pgxpool.Pool
}

func newDatabase(t *testing.T) database {
	t.Helper()
	url := os.Getenv("TEST_DATABASE_URL")
	if url == "" {
		t.Skip("TEST_DATABASE_URL is not set: it is the address of a Postgres whose user may create schemas, such as postgres://me@127.0.0.1/postgres")
	}
	name := "test_go_" + strings.ToLower(rand.Text())
	d := database{url: fmt.Sprintf("%s?sslmode=disable&search_path=%s", url, name)}
	d.pool = must(pgxpool.New(context.Background(), d.url))
	t.Cleanup(func() {
		d.exec(t, "drop schema "+name+" cascade")
		d.pool.Close()
	})
	d.exec(t, "create schema "+name)
	for _, statement := range append(strings.Split(schema(t), ";"), "create table orders (id text)", "create table bookings (run_id text)") {
		d.exec(t, statement)
	}
	return d
}

func schema(t *testing.T) string {
	var file struct {
		Cases []struct {
			Name string          `json:"name"`
			SQL  json.RawMessage `json:"sql"`
		} `json:"cases"`
	}
	if err := json.Unmarshal(must(os.ReadFile(cases)), &file); err != nil {
		t.Fatal(err)
	}
	for _, c := range file.Cases {
		var lines []string
		if c.Name == "schema" && json.Unmarshal(c.SQL, &lines) == nil {
			return strings.Join(lines, "\n")
		}
	}
	t.Fatal("there is no schema in " + cases)
	return ""
}

func (d database) exec(t *testing.T, statement string, args ...any) {
	t.Helper()
	if _, err := d.pool.Exec(context.Background(), statement, args...); err != nil {
		t.Fatal(err)
	}
}

// text is the one value of a query.
func (d database) text(t *testing.T, query string, args ...any) string {
	t.Helper()
	var value string
	if err := d.pool.QueryRow(context.Background(), "select ("+query+")::text", args...).Scan(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

// open is the database with database/sql.
func (d database) open(t *testing.T, library string) *sql.DB {
	t.Helper()
	db := must(sql.Open(library, d.url))
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func newClient(t *testing.T, options tidegate.ClientOpts) *tidegate.Client {
	t.Helper()
	options.AppID, options.Dev = "shop", tidegate.Ptr(true)
	client, err := tidegate.NewClient(options)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func expect[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
