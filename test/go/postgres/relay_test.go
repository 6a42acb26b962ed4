package postgres_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/postgres"
)

// running is a relay that runs, closed at the end of the test.
func running(t *testing.T, relay *postgres.Relay) *postgres.Relay {
	t.Helper()
	go relay.Run(context.Background())
	t.Cleanup(func() {
		if err := relay.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return relay
}

// write commits events.
func (d database) write(t *testing.T, client *tidegate.Client, events ...any) {
	t.Helper()
	tx := must(d.pool.Begin(t.Context()))
	must(postgres.OutboxPgx(t.Context(), tx, client, events...))
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// until waits for a state of the database.
func (d database) until(t *testing.T, query, want string) {
	t.Helper()
	d.untilWithin(t, time.Minute, query, want)
}

func (d database) untilWithin(t *testing.T, limit time.Duration, query, want string) {
	t.Helper()
	for deadline := time.Now().Add(limit); d.text(t, query) != want; {
		if time.Now().After(deadline) {
			t.Fatalf("%s: got %s, want %s", query, d.text(t, query), want)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

const (
	waiting = "select count(*) from tidegate_outbox where state = 'waiting'"
	states  = "select coalesce(string_agg(event->>'id' || ' ' || state, ', ' order by position), '') from tidegate_outbox"
)

func TestCommittedEventsAreSentOnceAndForgotten(t *testing.T) {
	d := newDatabase(t)
	s := newService(t, tidegate.ClientOpts{})
	for name, relay := range d.relays(t, s.client, postgres.RelayOpts{Poll: 20 * time.Millisecond}) {
		t.Run(name, func(t *testing.T) {
			s.set(func() { s.stored = nil })
			d.write(t, s.client, event("1"), event("2"))
			relay := relay()
			go relay.Run(context.Background())
			d.until(t, waiting, "0")
			d.write(t, s.client, event("3"))
			d.until(t, states, "")
			if err := relay.Close(context.Background()); err != nil {
				t.Fatal(err)
			}
			expect(t, "stored", s.has(), "1 2 3")
			d.until(t, "select count(*) from pg_locks where locktype = 'advisory' and objid::bigint = hashtext('tidegate_outbox')::bigint & 4294967295", "0")
		})
	}
}

func TestARelayWakesWithTheCommit(t *testing.T) {
	d := newDatabase(t)
	s := newService(t, tidegate.ClientOpts{})
	listens := running(t, postgres.NewRelayPgx(s.client, d.pool, postgres.RelayOpts{Poll: time.Hour}))
	d.until(t, "select count(*) from pg_stat_activity where query = 'listen tidegate_outbox'", "1")
	d.write(t, s.client, event("1"))
	<-s.changed
	d.until(t, states, "")
	if err := listens.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	polls := running(t, postgres.NewRelay(s.client, d.open(t, "postgres"), postgres.RelayOpts{Poll: time.Hour}))
	d.write(t, s.client, event("2"))
	polls.Wake()
	<-s.changed
	d.until(t, states, "")
}

func TestARolledBackTransactionSendsNothing(t *testing.T) {
	d := newDatabase(t)
	s := newService(t, tidegate.ClientOpts{})
	running(t, postgres.NewRelayPgx(s.client, d.pool, postgres.RelayOpts{Poll: 10 * time.Millisecond}))
	for _, order := range d.orders(t) {
		must(order(s.client, false, event("rolled back")))
	}
	d.write(t, s.client, event("1"))
	d.until(t, waiting, "0")
	expect(t, "stored", s.has(), "1")
}

// Each is a state in which a relay or a service may have died.
func TestEventsCountOnceWhateverHasDiedWhen(t *testing.T) {
	d := newDatabase(t)
	for name, c := range map[string]struct {
		fails func(times int, store func()) int
		sql   string
	}{
		"before it has claimed": {},
		"after it has claimed": {sql: `update tidegate_outbox set leased_until = now() - interval '1 second', sent_at = now(),
			sends = array['1767225600000,ABEiM0RVZneImQ==,' || position]`},
		"the service, before it has stored":       {fails: func(times int, _ func()) int { return map[bool]int{true: hangUp}[times == 1] }},
		"the service, before its response":        {fails: func(times int, store func()) int { store(); return map[bool]int{true: hangUp}[times == 1] }},
		"the service, for a while":                {fails: func(times int, _ func()) int { return map[bool]int{true: 503}[times <= 3] }},
		"the service has too much to do":          {fails: func(times int, _ func()) int { return map[bool]int{true: 429}[times == 1] }},
		"the key of the app is not known yet":     {fails: func(times int, _ func()) int { return map[bool]int{true: 401}[times == 1] }},
		"the response is of something in between": {fails: func(times int, store func()) int { store(); return map[bool]int{true: 502}[times == 1] }},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, tidegate.ClientOpts{})
			times := 0
			s.fails = func(_ []sentEvent, store func()) (int, any) {
				times++
				if c.fails == nil {
					return 0, nil
				}
				return c.fails(times, store), nil
			}
			d.write(t, s.client, event("1"), event("2"), event("3"))
			if c.sql != "" {
				d.exec(t, c.sql)
			}
			relay := postgres.NewRelayPgx(s.client, d.pool, postgres.RelayOpts{})
			go relay.Run(context.Background())
			d.until(t, states, "")
			if err := relay.Close(context.Background()); err != nil {
				t.Error(err)
			}
			expect(t, "stored", s.has(), "1 2 3")
		})
	}
}

func TestARelayThatDiedBeforeItForgotSendsAgainAndTheEventCountsOnce(t *testing.T) {
	d := newDatabase(t)
	s := newService(t, tidegate.ClientOpts{})
	d.write(t, s.client, event("1"))
	d.exec(t, "create sequence deletes")
	d.exec(t, "create rule died as on delete to tidegate_outbox do instead select nextval('deletes') / 0")
	running(t, postgres.NewRelayPgx(s.client, d.pool, postgres.RelayOpts{}))
	<-s.changed
	d.until(t, "select is_called from deletes", "true")
	d.exec(t, "drop rule died on tidegate_outbox")
	d.exec(t, "update tidegate_outbox set leased_until = null")
	d.until(t, states, "")
	expect(t, "requests", s.requests, 2)
	expect(t, "stored", s.has(), "1")
}

func TestOneOfSeveralRelaysSendsAndAnotherTakesOver(t *testing.T) {
	d := newDatabase(t)
	s := newService(t, tidegate.ClientOpts{})
	one := postgres.NewRelayPgx(s.client, d.pool, postgres.RelayOpts{Poll: 10 * time.Millisecond})
	go one.Run(context.Background())
	d.until(t, "select count(*) from pg_stat_activity where query = 'listen tidegate_outbox'", "1")
	two := running(t, postgres.NewRelay(s.client, d.open(t, "postgres"), postgres.RelayOpts{Poll: 10 * time.Millisecond}))
	d.write(t, s.client, event("1"))
	d.until(t, states, "")
	expect(t, "requests", s.requests, 1)
	d.exec(t, "select pg_terminate_backend(pid) from pg_stat_activity where query = 'listen tidegate_outbox'")
	d.write(t, s.client, event("2"))
	d.until(t, states, "")
	if err := one.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	two.Wake()
	d.write(t, s.client, event("3"))
	d.until(t, states, "")
	expect(t, "stored", s.has(), "1 2 3")
}

func TestRowsThatAnotherRelayHasLeasedAreLeftToIt(t *testing.T) {
	d := newDatabase(t)
	s := newService(t, tidegate.ClientOpts{})
	var events []any
	var want []string
	for i := range 300 {
		id := fmt.Sprintf("%03d", i)
		events, want = append(events, event(id)), append(want, id)
	}
	d.leased(t, s)
	d.write(t, s.client, events...)
	d.exec(t, "update tidegate_outbox set leased_until = null where position % 2 = 1")
	d.until(t, waiting, "150")
	expect(t, "those that were leased", d.text(t, "select count(*) from tidegate_outbox where position % 2 = 0"), "150")
	d.exec(t, "update tidegate_outbox set leased_until = now() - interval '1 second'")
	d.until(t, states, "")
	got := strings.Fields(s.has())
	slices.Sort(got)
	expect(t, "stored", strings.Join(got, " "), strings.Join(append(want, "taken"), " "))
}

func TestEventsOfAKeyAreSentInTheirOrder(t *testing.T) {
	d := newDatabase(t)
	s := newService(t, tidegate.ClientOpts{})
	d.leased(t, s)
	d.write(t, s.client, postgres.InOrder("ada", event("a1")), event("b1"), postgres.InOrder("ada", event("a2")))
	d.exec(t, "update tidegate_outbox set leased_until = null where event->>'id' <> 'a1'")
	d.until(t, states, "a1 waiting, a2 waiting")
	d.exec(t, "update tidegate_outbox set leased_until = null")
	d.until(t, states, "")
	expect(t, "stored", s.has(), "taken b1 a1 a2")
}

func TestAnEventThatIsRefusedDoesNotHoldUpOthers(t *testing.T) {
	d := newDatabase(t)
	var log strings.Builder
	var mu sync.Mutex
	s := newService(t, tidegate.ClientOpts{Logger: slog.New(slog.NewTextHandler(writer(func(text []byte) {
		mu.Lock()
		defer mu.Unlock()
		log.Write(text)
	}), nil))})
	id := "2"
	wrong := tidegate.Event{Name: "tidegate/own", ID: &id}
	d.write(t, s.client, postgres.InOrder("ada", event("1")), postgres.InOrder("ada", wrong), postgres.InOrder("ada", event("3")))
	relay := running(t, postgres.NewRelayPgx(s.client, d.pool, postgres.RelayOpts{}))
	d.until(t, states, "2 refused")
	expect(t, "stored", s.has(), "1 3")
	expect(t, "error", d.text(t, "select error from tidegate_outbox where ended_at is not null and leased_until is null"), "event 1: its name is reserved")
	status := must(relay.Status(t.Context()))
	expect(t, "status", fmt.Sprint(status.Waiting, status.Refused, status.Uncertain, status.Oldest, status.Bytes > 0), "0 1 0 0s true")
	mu.Lock()
	defer mu.Unlock()
	if !strings.Contains(log.String(), "its name is reserved") {
		t.Errorf("got the log %q", log.String())
	}
}

type writer func(text []byte)

func (w writer) Write(text []byte) (int, error) {
	w(text)
	return len(text), nil
}

func TestWhatIsRefusedIsFoundOneByOneIfTheServiceDoesNotNameIt(t *testing.T) {
	d := newDatabase(t)
	s := newService(t, tidegate.ClientOpts{})
	s.fails = func(events []sentEvent, _ func()) (int, any) {
		if slices.ContainsFunc(events, func(e sentEvent) bool { return e.ID == "2" }) {
			return http.StatusRequestEntityTooLarge, map[string]any{"error": "too large"}
		}
		return 0, nil
	}
	d.write(t, s.client, event("1"), event("2"), event("3"))
	running(t, postgres.NewRelayPgx(s.client, d.pool, postgres.RelayOpts{}))
	d.until(t, states, "2 refused")
	expect(t, "stored", s.has(), "1 3")
}

func TestASendIsSplitByItsSizeAndItsBeginningCounts(t *testing.T) {
	d := newDatabase(t)
	writes := newService(t, tidegate.ClientOpts{})
	s := newService(t, tidegate.ClientOpts{MaxBytes: 200})
	s.fails = func(events []sentEvent, _ func()) (int, any) {
		if events[0].ID == "3" && s.requests == 2 {
			return http.StatusServiceUnavailable, nil
		}
		return 0, nil
	}
	large := event("2")
	large.Data = map[string]any{"x": strings.Repeat("x", 300)}
	d.write(t, writes.client, event("0"), event("1"), event("3"), event("4"), event("5"), large)
	running(t, postgres.NewRelayPgx(s.client, d.pool, postgres.RelayOpts{}))
	d.until(t, states, "2 refused")
	expect(t, "stored", s.has(), "0 1 3 4 5")
}

// leased starts a relay, which takes over what another one with the lock of the app's relays had leased. Then one without that lock, such as that of
// the worker, leases all rows that are added.
func (d database) leased(t *testing.T, s *service) {
	d.write(t, s.client, event("taken"))
	d.exec(t, "update tidegate_outbox set leased_until = now() + interval '1 hour'")
	running(t, postgres.NewRelayPgx(s.client, d.pool, postgres.RelayOpts{Poll: 10 * time.Millisecond}))
	d.until(t, states, "")
	d.exec(t, "alter table tidegate_outbox alter leased_until set default now() + interval '1 hour'")
}

// sentLongAgo moves the sends of all rows into the past.
func (d database) sentLongAgo(t *testing.T, hours int) {
	d.exec(t, "update tidegate_outbox set sent_at = now() - $1 * interval '1 hour', leased_until = null", hours)
}

// sentWithoutResponse has a relay send events, which the service stores or not, and die without a response.
func (d database) sentWithoutResponse(t *testing.T, s *service, isStored bool, events ...any) {
	s.set(func() {
		s.fails = func(_ []sentEvent, store func()) (int, any) {
			if isStored {
				store()
			}
			return hangUp, nil
		}
	})
	d.write(t, s.client, events...)
	relay := postgres.NewRelayPgx(s.client, d.pool, postgres.RelayOpts{})
	go relay.Run(context.Background())
	<-s.changed
	if err := relay.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	s.set(func() { s.fails, s.forgets = nil, true })
}

func TestARelayThatWasDownFor25HoursMakesNoDuplicate(t *testing.T) {
	d := newDatabase(t)
	s := newService(t, tidegate.ClientOpts{})
	d.sentWithoutResponse(t, s, true, event("1"), event("2"), event("3"))
	d.sentLongAgo(t, 25)
	d.write(t, s.client, event("4"))
	running(t, postgres.NewRelayPgx(s.client, d.pool, postgres.RelayOpts{}))
	d.until(t, states, "")
	expect(t, "stored", s.has(), "1 2 3 4")
}

func TestWhatWasSentLongAgoAndNotStoredIsSentAgain(t *testing.T) {
	d := newDatabase(t)
	s := newService(t, tidegate.ClientOpts{})
	d.sentWithoutResponse(t, s, false, event("1"), postgres.InOrder("ada", event("2")))
	d.sentLongAgo(t, 25)
	d.write(t, s.client, event("3"), postgres.InOrder("ada", event("4")), postgres.InOrder("bob", event("5")))
	s.set(func() { s.looksUp = false })
	running(t, postgres.NewRelayPgx(s.client, d.pool, postgres.RelayOpts{}))
	d.until(t, states, "1 waiting, 2 waiting, 4 waiting")
	expect(t, "stored before it is looked up", s.has(), "3 5")
	s.set(func() { s.looksUp = true })
	d.until(t, states, "")
	expect(t, "stored", s.has(), "3 5 1 2 4")
}

func TestWhatTheServiceMayHaveForgottenIsUncertain(t *testing.T) {
	d := newDatabase(t)
	s := newService(t, tidegate.ClientOpts{})
	d.sentWithoutResponse(t, s, true, event("1"))
	d.sentWithoutResponse(t, s, false, event("2"))
	d.sentLongAgo(t, 8*24)
	d.write(t, s.client, event("3"))
	running(t, postgres.NewRelayPgx(s.client, d.pool, postgres.RelayOpts{}))
	d.until(t, states, "2 uncertain")
	expect(t, "stored", s.has(), "1 3")
	expect(t, "error", d.text(t, "select error from tidegate_outbox"), "It was first sent 8 days ago, and the service keeps events for 7 days: nobody can tell whether it was accepted")
}

func TestAcknowledgedRowsCanBeKept(t *testing.T) {
	d := newDatabase(t)
	s := newService(t, tidegate.ClientOpts{})
	d.write(t, s.client, event("old"), event("1"))
	d.exec(t, "update tidegate_outbox set state = 'acknowledged', ended_at = now() - interval '3 days' where event->>'id' = 'old'")
	running(t, postgres.NewRelayPgx(s.client, d.pool, postgres.RelayOpts{KeepDays: 2}))
	d.until(t, states, "1 acknowledged")
	if id := d.text(t, "select event_id from tidegate_outbox"); !s.ids[id] {
		t.Errorf("got the ID %q", id)
	}
}

func TestStepsOfRunsThatTheServiceNoLongerHasAreDeleted(t *testing.T) {
	d := newDatabase(t)
	s := newService(t, tidegate.ClientOpts{})
	s.runs["kept"] = true
	d.exec(t, "insert into tidegate_steps select 'gone-' || n, 'a', '1', now() - interval '31 days' from generate_series(1, 1500) as n")
	d.exec(t, "insert into tidegate_steps values ('kept', 'a', '1', now() - interval '31 days'), ('new', 'a', '1', now()), ('gone-7', 'b', '1', now())")
	running(t, postgres.NewRelay(s.client, d.open(t, "postgres"), postgres.RelayOpts{}))
	d.until(t, "select string_agg(run_id || step_id, ' ' order by run_id) from tidegate_steps", "gone-7b kepta newa")
}

func TestStepsAreKeptIfTheirRunsCannotBeLookedUp(t *testing.T) {
	d := newDatabase(t)
	s := newService(t, tidegate.ClientOpts{})
	s.looksUp = false
	d.exec(t, "insert into tidegate_steps values ('gone', 'a', '1', now() - interval '31 days')")
	relay := postgres.NewRelayPgx(s.client, d.pool, postgres.RelayOpts{})
	go relay.Run(context.Background())
	<-s.changed
	if err := relay.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	expect(t, "steps", d.text(t, "select count(*) from tidegate_steps"), "1")
}

func TestClosingARelayEndsTheSendThatIsUnderWay(t *testing.T) {
	d := newDatabase(t)
	s := newService(t, tidegate.ClientOpts{})
	sends, goOn := make(chan struct{}), make(chan struct{})
	s.fails = func([]sentEvent, func()) (int, any) {
		close(sends)
		<-goOn
		return 0, nil
	}
	d.write(t, s.client, event("1"))
	relay := postgres.NewRelayPgx(s.client, d.pool, postgres.RelayOpts{})
	go relay.Run(context.Background())
	<-sends
	short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := relay.Close(short); err == nil {
		t.Error("it was closed before the send had ended")
	}
	close(goOn)
	if err := relay.Close(t.Context()); err != nil {
		t.Error(err)
	}
	expect(t, "rows", d.text(t, states), "")
	never := postgres.NewRelayPgx(s.client, d.pool, postgres.RelayOpts{})
	if err := never.Close(t.Context()); err != nil {
		t.Error(err)
	}
	never.Run(t.Context())
}

func TestARelayWaitsForItsTables(t *testing.T) {
	d := newDatabase(t)
	s := newService(t, tidegate.ClientOpts{})
	d.write(t, s.client, event("1"))
	d.exec(t, "alter table tidegate_outbox rename to elsewhere")
	running(t, postgres.NewRelayPgx(s.client, d.pool, postgres.RelayOpts{}))
	d.until(t, "select count(*) from pg_stat_activity where query = 'listen tidegate_outbox'", "1")
	d.exec(t, "alter table elsewhere rename to tidegate_outbox")
	d.until(t, states, "")
	expect(t, "stored", s.has(), "1")
}
