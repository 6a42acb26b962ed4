package postgres

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/internal/outbox"
	"github.com/tidegate/tidegate/clients/go/internal/pg"
)

const (
	firstBackoff = 100 * time.Millisecond
	maxBackoff   = 30 * time.Second
	// statementTimeout of the relay's own statements.
	statementTimeout     = 20 * time.Second
	defaultRetentionDays = 7
	defaultStepsKeepDays = 30
	defaultPoll          = time.Second
	cleanUpEvery         = time.Hour
	logAgainAfter        = time.Minute
)

// RelayOpts change a relay. The zero value is ready.
type RelayOpts struct {
	// KeepDays keeps rows that were acknowledged, with the internal IDs of their events. Default: they are deleted.
	KeepDays int
	// RetentionDays for which the service keeps events, as its setting says. Default: 7.
	RetentionDays int
	// StepsKeepDays is the age at which results of steps (step.Transaction) are deleted, when the service no longer has their runs. Default: 30.
	StepsKeepDays int
	// Poll is how often it looks for events, whatever else wakes it. Default: 1 s. To take over from another relay it looks each second at least.
	Poll time.Duration
}

// Relay sends the events of an outbox, one instance of an app at a time: the others wait to take over. When an app or a relay dies, events may be sent again;
// they count once. A relay that could send nothing for longer than the service deduplicates asks the service what it has, before it sends again.
// An event that the service refuses for good is marked and logged, and does not stop the others.
type Relay struct {
	client  outbox.Client
	pool    pg.Pool
	options RelayOpts
	woken   chan struct{}
	// stop ends Run, which closes ended.
	stop    context.CancelCauseFunc
	stopped context.Context
	ended   chan struct{}
	begun   atomic.Bool
	log     failureLog
	// cleanUpAt is when steps are cleaned up next.
	cleanUpAt time.Time
}

// NewRelay makes a relay for database/sql. It polls, because LISTEN is not part of database/sql: [Relay.Wake] makes it look at once. [NewRelayPgx] listens.
// Run takes one connection of db for itself.
func NewRelay(client *tidegate.Client, db *sql.DB, options RelayOpts) *Relay {
	return newRelay(client.OutboxForPostgres(), pg.PoolOfSQL(db), options)
}

// NewRelayPgx makes a relay for pgx, which listens to commits: pool is a *pgxpool.Pool. Run takes one connection of it for itself.
func NewRelayPgx[R pg.PgxRows, C pg.PgxPoolConn[R, K, N], K pg.PgxConn[N], N any](client *tidegate.Client, pool pg.PgxPool[R, C, K, N], options RelayOpts) *Relay {
	return newRelay(client.OutboxForPostgres(), pg.PoolOfPgx[R, C, K, N](pool), options)
}

func newRelay(client outbox.Client, pool pg.Pool, options RelayOpts) *Relay {
	if options.RetentionDays <= 0 {
		options.RetentionDays = defaultRetentionDays
	}
	if options.StepsKeepDays <= 0 {
		options.StepsKeepDays = defaultStepsKeepDays
	}
	if options.Poll <= 0 {
		options.Poll = defaultPoll
	}
	stopped, stop := context.WithCancelCause(context.Background())
	return &Relay{
		client:  client,
		pool:    pool,
		options: options,
		woken:   make(chan struct{}, 1),
		stop:    stop,
		stopped: stopped,
		ended:   make(chan struct{}),
	}
}

var errClosed = errors.New("the relay was closed")

// Run sends events until the context ends or the relay is closed; then it ends the send that is under way, and returns. Errors of the database and
// of the service are logged, and tried again. Call it once.
func (r *Relay) Run(ctx context.Context) {
	if r.begun.Swap(true) {
		return
	}
	defer close(r.ended)
	running, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(r.stopped, func() { cancel(errClosed) })()
	for backoff := firstBackoff; running.Err() == nil; {
		err := r.runOnConnection(running, &backoff)
		if err == nil || running.Err() != nil {
			continue
		}
		r.log.tell(r.client.Logger(), "The relay of the outbox has lost its database", err)
		sleep(running, jittered(&backoff))
	}
}

// Wake makes the relay look for events at once, as after a commit. It does nothing in instances that wait to take over.
func (r *Relay) Wake() {
	select {
	case r.woken <- struct{}{}:
	default:
	}
}

// Close ends Run, and returns when the send that is under way has ended, or the context.
func (r *Relay) Close(ctx context.Context) error {
	r.stop(errClosed)
	if !r.begun.Swap(true) {
		close(r.ended)
	}
	select {
	case <-r.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Status is the state of an outbox.
type Status struct {
	// Waiting, Refused and Uncertain are how many events are in each state.
	Waiting, Refused, Uncertain int64
	// Oldest is the age of the oldest event that waits.
	Oldest time.Duration
	// Bytes of the table, with its indexes.
	Bytes int64
}

// Status reads the state of the outbox.
func (r *Relay) Status(ctx context.Context) (Status, error) {
	var s Status
	var seconds float64
	err := r.pool.Query(ctx, pg.OutboxStatus, nil, func(scan func(...any) error) error {
		return scan(&s.Waiting, &s.Refused, &s.Uncertain, &seconds, &s.Bytes)
	})
	s.Oldest = time.Duration(seconds * float64(time.Second))
	return s, pg.Explain(err, "tidegate_outbox")
}

// runOnConnection relays while it has a connection with the lock.
func (r *Relay) runOnConnection(ctx context.Context, backoff *time.Duration) error {
	conn, err := r.pool.Own(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	for {
		isLocked := false
		read := func(scan func(...any) error) error { return scan(&isLocked) }
		if err := conn.Query(ctx, pg.RelayLock, nil, read); err != nil {
			return err
		}
		if isLocked {
			break
		}
		sleep(ctx, min(r.options.Poll, defaultPoll))
	}
	// The one before may have died while it sent: events that it sent count once. This fails if there is no table yet, and so nothing to take over.
	_ = conn.Query(ctx, pg.RelayTakeOver, nil, nil)
	*backoff = firstBackoff
	if !conn.Listens() {
		return r.relay(ctx, func() error { return conn.Query(ctx, "select 1", nil, nil) })
	}
	if err := conn.Query(ctx, "listen "+pg.Channel, nil, nil); err != nil {
		return err
	}
	listening, cancel := context.WithCancelCause(ctx)
	var listener sync.WaitGroup
	defer listener.Wait()
	defer cancel(nil)
	listener.Go(func() {
		for {
			if err := conn.WaitForNotification(listening); err != nil {
				cancel(err)
				return
			}
			r.Wake()
		}
	})
	return r.relay(listening, func() error { return context.Cause(listening) })
}

// relay sends until the context ends. It returns the error with which hasLock says that the connection of the lock is lost.
func (r *Relay) relay(ctx context.Context, hasLock func() error) error {
	backoff := firstBackoff
	for ctx.Err() == nil {
		if err := hasLock(); err != nil {
			return err
		}
		count, err := r.round(ctx)
		var unsent *notSent
		switch {
		case err != nil:
			r.log.tell(r.client.Logger(), "The relay of the outbox could not send", err)
			wait := jittered(&backoff)
			if errors.As(err, &unsent) && unsent.retryAfter > wait {
				wait = unsent.retryAfter
			}
			sleep(ctx, wait)
		case count < maxRows:
			backoff = firstBackoff
			r.log.pass()
			r.cleanUp(ctx)
			r.await(ctx)
		}
	}
	return hasLock()
}

// round sends one batch, and tells its size. It ends what it has begun when the context ends meanwhile.
func (r *Relay) round(ctx context.Context) (int, error) {
	begun := context.WithoutCancel(ctx)
	b, err := r.claim(begun)
	if err != nil {
		return 0, err
	}
	count := len(b.rows)
	return count, b.send(begun)
}

func (r *Relay) await(ctx context.Context) {
	timer := time.NewTimer(r.options.Poll)
	defer timer.Stop()
	select {
	case <-r.woken:
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (r *Relay) query(ctx context.Context, statement string, args []any, each func(func(...any) error) error) error {
	timed, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	return r.pool.Query(timed, statement, args, each)
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// jittered is from half of the back-off to all of it, and doubles it.
func jittered(backoff *time.Duration) time.Duration {
	now := *backoff
	*backoff = min(2*now, maxBackoff)
	return now/2 + time.Duration(rand.Int64N(int64(now/2)))
}
