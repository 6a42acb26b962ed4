package pg

import (
	"context"
	"database/sql"
	"io"
	"time"
)

// Channel is what relays listen on.
const Channel = "tidegate_outbox"

const closeWithin = 5 * time.Second

// Querier runs one statement.
type Querier interface {
	// Query calls each, if it is not nil, for every row. A *Texts is scanned from text[].
	Query(ctx context.Context, statement string, args []any, each func(scan func(dest ...any) error) error) error
}

// Tx is a transaction.
type Tx interface {
	Querier
	Commit(ctx context.Context) error
	Rollback(ctx context.Context) error
}

// Pool has connections.
type Pool interface {
	Querier
	// Own is a connection that nobody else uses until it is closed.
	Own(ctx context.Context) (Conn, error)
}

// Conn is a connection of its own.
type Conn interface {
	Querier
	// WaitForNotification says whether the connection can; otherwise it returns when the context ends. Its error means that the connection is lost,
	// or that the context has ended.
	WaitForNotification(ctx context.Context) error
	// Listens says whether WaitForNotification returns before the context ends.
	Listens() bool
	// Close ends the locks of the connection, or the connection.
	Close(ctx context.Context) error
}

// SQLQuerier is what *sql.DB, *sql.Conn and *sql.Tx have, and what wraps them.
type SQLQuerier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

type ofSQL struct{ SQLQuerier }

// OfSQL runs statements with database/sql.
func OfSQL(q SQLQuerier) Querier { return ofSQL{q} }

func (q ofSQL) Query(ctx context.Context, statement string, args []any, each func(scan func(dest ...any) error) error) error {
	rows, err := q.QueryContext(ctx, statement, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if each == nil {
			continue
		}
		if err := each(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

type sqlTx struct {
	ofSQL
	tx *sql.Tx
}

// TxOfSQL is a transaction of database/sql.
func TxOfSQL(tx *sql.Tx) Tx { return sqlTx{ofSQL{tx}, tx} }

func (t sqlTx) Commit(context.Context) error   { return t.tx.Commit() }
func (t sqlTx) Rollback(context.Context) error { return t.tx.Rollback() }

type sqlPool struct {
	ofSQL
	db *sql.DB
}

// PoolOfSQL is a pool of database/sql, whose connections cannot listen: libraries differ in that.
func PoolOfSQL(db *sql.DB) Pool { return sqlPool{ofSQL{db}, db} }

func (p sqlPool) Own(ctx context.Context) (Conn, error) {
	conn, err := p.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return sqlConn{ofSQL{conn}, conn}, nil
}

type sqlConn struct {
	ofSQL
	conn *sql.Conn
}

func (c sqlConn) Listens() bool { return false }

func (c sqlConn) WaitForNotification(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// Close gives the connection back without its locks. A connection that does not answer is closed, which ends the locks too.
func (c sqlConn) Close(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, closeWithin)
	defer cancel()
	if err := c.Query(bounded, "select pg_advisory_unlock_all()", nil, nil); err != nil {
		_ = c.conn.Raw(func(own any) error {
			if closer, ok := own.(io.Closer); ok {
				return closer.Close()
			}
			return nil
		})
	}
	return c.conn.Close()
}

// PgxRows are pgx.Rows.
type PgxRows interface {
	Next() bool
	Scan(dest ...any) error
	Close()
	Err() error
}

// PgxQuerier is what the connections, transactions and pools of pgx have.
type PgxQuerier[R PgxRows] interface {
	Query(ctx context.Context, sql string, args ...any) (R, error)
}

type ofPgx[R PgxRows] struct{ PgxQuerier[R] }

// OfPgx runs statements with pgx.
func OfPgx[R PgxRows](q PgxQuerier[R]) Querier { return ofPgx[R]{q} }

func (q ofPgx[R]) Query(ctx context.Context, statement string, args []any, each func(scan func(dest ...any) error) error) error {
	rows, err := q.PgxQuerier.Query(ctx, statement, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if each == nil {
			continue
		}
		if err := each(func(dest ...any) error { return rows.Scan(forPgx(dest)...) }); err != nil {
			return err
		}
	}
	return rows.Err()
}

// forPgx gives pgx arrays in its own type: it would hand them to a sql.Scanner in binary.
func forPgx(dest []any) []any {
	for i := range dest {
		if texts, ok := dest[i].(*Texts); ok {
			dest[i] = (*[]string)(texts)
		}
	}
	return dest
}

// PgxTx is pgx.Tx.
type PgxTx[R PgxRows] interface {
	PgxQuerier[R]
	Commit(ctx context.Context) error
	Rollback(ctx context.Context) error
}

type pgxTx[R PgxRows] struct {
	ofPgx[R]
	tx PgxTx[R]
}

// TxOfPgx is a transaction of pgx.
func TxOfPgx[R PgxRows](tx PgxTx[R]) Tx { return pgxTx[R]{ofPgx[R]{tx}, tx} }

func (t pgxTx[R]) Commit(ctx context.Context) error   { return t.tx.Commit(ctx) }
func (t pgxTx[R]) Rollback(ctx context.Context) error { return t.tx.Rollback(ctx) }

// PgxConn is *pgx.Conn, with N as *pgconn.Notification.
type PgxConn[N any] interface {
	WaitForNotification(ctx context.Context) (N, error)
	Close(ctx context.Context) error
}

// PgxPoolConn is *pgxpool.Conn.
type PgxPoolConn[R PgxRows, K PgxConn[N], N any] interface {
	PgxQuerier[R]
	Conn() K
	Release()
}

// PgxPool is *pgxpool.Pool.
type PgxPool[R PgxRows, C PgxPoolConn[R, K, N], K PgxConn[N], N any] interface {
	PgxQuerier[R]
	Acquire(ctx context.Context) (C, error)
}

type pgxPool[R PgxRows, C PgxPoolConn[R, K, N], K PgxConn[N], N any] struct {
	ofPgx[R]
	pool PgxPool[R, C, K, N]
}

// PoolOfPgx is a pool of pgx, whose connections can listen.
func PoolOfPgx[R PgxRows, C PgxPoolConn[R, K, N], K PgxConn[N], N any](pool PgxPool[R, C, K, N]) Pool {
	return pgxPool[R, C, K, N]{ofPgx[R]{pool}, pool}
}

func (p pgxPool[R, C, K, N]) Own(ctx context.Context) (Conn, error) {
	conn, err := p.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	return pgxConn[R, C, K, N]{ofPgx[R]{conn}, conn}, nil
}

type pgxConn[R PgxRows, C PgxPoolConn[R, K, N], K PgxConn[N], N any] struct {
	ofPgx[R]
	conn C
}

func (c pgxConn[R, C, K, N]) Listens() bool { return true }

func (c pgxConn[R, C, K, N]) WaitForNotification(ctx context.Context) error {
	_, err := c.conn.Conn().WaitForNotification(ctx)
	return err
}

func (c pgxConn[R, C, K, N]) Close(ctx context.Context) error {
	defer c.conn.Release()
	bounded, cancel := context.WithTimeout(ctx, closeWithin)
	defer cancel()
	return c.conn.Conn().Close(bounded)
}
