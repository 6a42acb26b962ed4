package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/postgres"
)

// mortal is a process that dies before or after one of its statements: then it neither asks the database nor the service.
type mortal struct {
	// left are the statements on the outbox until it dies.
	left     atomic.Int64
	isAfter  bool
	isDead   atomic.Bool
	requests atomic.Int64
}

var errDead = errors.New("the process is dead")

func (m *mortal) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	isOfOutbox := strings.Contains(q.SQL, "tidegate_outbox") && !strings.HasPrefix(q.SQL, "listen")
	isLast := isOfOutbox && m.left.Add(-1) == 0
	if m.isDead.Load() || (isLast && !m.isAfter) {
		m.isDead.Store(true)
		dead, cancel := context.WithCancelCause(ctx)
		cancel(errDead)
		return dead
	}
	return context.WithValue(ctx, lastKey{}, isLast)
}

type lastKey struct{}

func (m *mortal) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryEndData) {
	if isLast, _ := ctx.Value(lastKey{}).(bool); isLast {
		m.isDead.Store(true)
	}
}

func (m *mortal) RoundTrip(r *http.Request) (*http.Response, error) {
	if m.isDead.Load() {
		return nil, errDead
	}
	defer m.requests.Add(1)
	return http.DefaultTransport.RoundTrip(r)
}

// scenario is an order of commits, rollbacks, relays that die, faults and time, which the seed decides.
type scenario struct {
	t      *testing.T
	d      database
	s      *service
	random *rand.Rand
	// ids of what was committed, by key.
	ids   map[string][]string
	count int
}

func (c *scenario) run() {
	acts := []func(){c.commit, c.commit, c.rollBack, c.relay, c.relay, c.pass}
	for range 1 + c.random.IntN(12) {
		acts[c.random.IntN(len(acts))]()
	}
	c.s.set(func() { c.s.fails = nil })
	running := postgres.NewRelayPgx(c.s.client, c.d.pool, postgres.RelayOpts{Poll: 5 * time.Millisecond, RetentionDays: 10_000})
	go running.Run(context.Background())
	c.d.until(c.t, states, "")
	if err := running.Close(context.Background()); err != nil {
		c.t.Error(err)
	}
}

func (c *scenario) check(seed uint64) {
	stored := strings.Fields(c.s.has())
	var all []string
	for key, ids := range c.ids {
		all = append(all, ids...)
		own := slices.DeleteFunc(slices.Clone(stored), func(id string) bool { return !slices.Contains(ids, id) })
		if key != "" {
			expect(c.t, fmt.Sprintf("order of %q in scenario %d", key, seed), strings.Join(own, " "), strings.Join(ids, " "))
		}
	}
	slices.Sort(stored)
	slices.Sort(all)
	expect(c.t, fmt.Sprintf("stored in scenario %d", seed), strings.Join(stored, " "), strings.Join(all, " "))
}

func (c *scenario) commit() {
	key := []string{"", "k", "l"}[c.random.IntN(3)]
	var events []any
	for range 1 + c.random.IntN(3) {
		c.count++
		id := fmt.Sprintf("%02d", c.count)
		c.ids[key] = append(c.ids[key], id)
		if key == "" {
			events = append(events, event(id))
		} else {
			events = append(events, postgres.InOrder(key, event(id)))
		}
	}
	c.d.write(c.t, c.s.client, events...)
}

func (c *scenario) rollBack() {
	tx := must(c.d.pool.Begin(c.t.Context()))
	must(postgres.OutboxPgx(c.t.Context(), tx, c.s.client, event("rolled back")))
	if err := tx.Rollback(c.t.Context()); err != nil {
		c.t.Fatal(err)
	}
}

// relay runs until the process is dead, the outbox is empty, or the service has failed. Another instance waits for its lock meanwhile, or not.
func (c *scenario) relay() {
	fault := c.random.IntN(3)
	c.s.set(func() {
		c.s.fails = func(_ []sentEvent, store func()) (int, any) {
			switch fault {
			case 1:
				return http.StatusServiceUnavailable, nil
			case 2:
				store()
				return hangUp, nil
			default:
				return 0, nil
			}
		}
	})
	processes := make([]*process, 1+c.random.IntN(2))
	for i := range processes {
		processes[i] = c.start(int64(1+c.random.IntN(8)), c.random.IntN(2) == 0)
	}
	for _, p := range processes {
		p.awaitEnd(c, fault > 0)
	}
}

// process has a relay.
type process struct {
	*mortal
	relay *postgres.Relay
	pool  *pgxpool.Pool
}

func (c *scenario) start(statements int64, isAfter bool) *process {
	m := &mortal{isAfter: isAfter}
	m.left.Store(statements)
	config := must(pgxpool.ParseConfig(c.d.url))
	config.ConnConfig.Tracer = m
	pool := must(pgxpool.NewWithConfig(context.Background(), config))
	client := newClient(c.t, tidegate.ClientOpts{BaseURL: c.s.url, HTTPClient: &http.Client{Transport: m}})
	relay := postgres.NewRelayPgx(client, pool, postgres.RelayOpts{Poll: 5 * time.Millisecond, RetentionDays: 10_000})
	go relay.Run(context.Background())
	return &process{m, relay, pool}
}

func (p *process) awaitEnd(c *scenario, serviceFails bool) {
	for !p.isDead.Load() && c.d.text(c.t, states) != "" && (!serviceFails || p.requests.Load() == 0) {
		time.Sleep(time.Millisecond)
	}
	if err := p.relay.Close(context.Background()); err != nil {
		c.t.Error(err)
	}
	p.pool.Close()
}

func (c *scenario) pass() {
	hours := []float64{0.01, 1, 22, 25}[c.random.IntN(4)]
	c.s.set(func() { c.s.hours += hours })
	c.d.exec(c.t, `update tidegate_outbox set created_at = created_at - $1 * interval '1 hour', sent_at = sent_at - $1 * interval '1 hour',
		leased_until = leased_until - $1 * interval '1 hour'`, hours)
}

func TestEachCommittedEventCountsOnceInAnyOrderOfCommitsDeathsFaultsAndTime(t *testing.T) {
	d := newDatabase(t)
	for seed := range uint64(40) {
		c := &scenario{t: t, d: d, s: newService(t, tidegate.ClientOpts{}), random: rand.New(rand.NewPCG(seed, 0)), ids: map[string][]string{}}
		c.run()
		c.check(seed)
	}
}
