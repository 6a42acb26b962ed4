package postgres_test

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// chaosApps has the app that is killed.
const chaosApps = "../../../chaos/apps/go"

// usualPoints at which the app dies, by chance of all; TEST_KILLS is another number of kills.
const usualPoints = 8

const settlesWithin = 3 * time.Minute

// points of the app, in its death.go.
var points = []string{
	"outbox: begun", "outbox: order written", "outbox: event written", "outbox: commit asked for", "outbox: committed", "outbox: before the claim",
	"outbox: claimed", "outbox: before the send", "outbox: sent", "outbox: before the deletion", "outbox: deleted",
	"transaction: before the step is claimed", "transaction: step claimed", "transaction: booking written", "transaction: result written",
	"transaction: answered",
}

// killedApp is the app's process, again and again.
type killedApp struct {
	program string
	port    string
	env     []string
	url     string
	process *exec.Cmd
}

func buildApp(t *testing.T, env ...string) *killedApp {
	t.Helper()
	program := filepath.Join(t.TempDir(), "app")
	build := exec.Command("go", "build", "-o", program, "./outbox")
	build.Dir = chaosApps
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	listener := must(net.Listen("tcp", "127.0.0.1:0"))
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	_ = listener.Close()
	return &killedApp{program: program, port: port, env: append(os.Environ(), append(env, "PORT="+port)...)}
}

// start returns when the app listens.
func (a *killedApp) start(t *testing.T, env ...string) {
	t.Helper()
	a.process = exec.Command(a.program)
	a.process.Env, a.process.Stderr = append(a.env, env...), os.Stderr
	// It lives as long as its input is open.
	_ = must(a.process.StdinPipe())
	output := must(a.process.StdoutPipe())
	if err := a.process.Start(); err != nil {
		t.Fatal(err)
	}
	var told struct{ URL string }
	line, _ := bufio.NewReader(output).ReadString('\n')
	if err := json.Unmarshal([]byte(line), &told); err != nil {
		t.Fatalf("the app said %q", line)
	}
	a.url = told.URL
}

func (a *killedApp) kill() {
	_ = a.process.Process.Kill()
	_ = a.process.Wait()
}

// died waits until the app has killed itself. What it waits for may be dead as well, so in the end it is killed.
func (a *killedApp) died() {
	killed := time.AfterFunc(10*time.Second, func() { _ = a.process.Process.Kill() })
	_ = a.process.Wait()
	killed.Stop()
}

// The app dies between begin, write, commit, send, acknowledgment and response, and its connections to Postgres do.
func TestAnAppThatIsKilledHasAsManyOrdersAsEventsRunsAndBookings(t *testing.T) {
	d := newDatabase(t)
	service := os.Getenv("TEST_DEV_SERVICE")
	if service == "" {
		t.Skip("TEST_DEV_SERVICE is not set: it is the address of a service in dev mode")
	}
	kills := usualPoints
	if given := os.Getenv("TEST_KILLS"); given != "" {
		kills = must(strconv.Atoi(given))
	}
	d.exec(t, "drop table bookings")
	d.exec(t, "create table bookings (order_id text, run_id text)")
	id := strings.ToLower(rand.Text())
	name := "chaos/order-" + id
	app := buildApp(t, "APP_ID=chaos-"+id, "APP_DATABASE_URL="+d.url+"&application_name=killed", "ORDER_EVENT="+name, "SERVICE_DEV="+service)
	app.start(t)
	t.Cleanup(func() { app.kill() })
	register := must(http.NewRequest(http.MethodPut, app.url, nil))
	if response := must(http.DefaultClient.Do(register)); response.StatusCode != http.StatusOK {
		t.Fatalf("the app was not registered: %d", response.StatusCode)
	}
	order := mathrand.Perm(len(points))
	for kill := range kills {
		app.kill()
		point := points[order[kill%len(points)]]
		app.start(t, "ORDERS=1", "DIES_AT="+point, fmt.Sprint("DIES_AFTER=", mathrand.IntN(4)))
		if kill%4 == 3 {
			d.exec(t, "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'killed'")
		}
		app.died()
	}
	app.start(t)

	// The service calls an app that has failed less often, and rows that the app had leased wait for the end of their leases.
	d.untilWithin(t, settlesWithin, "select count(*) from tidegate_outbox", "0")
	orders := d.text(t, "select count(*) from orders")
	d.untilWithin(t, settlesWithin, "select count(distinct order_id) from bookings", orders)
	events := eventsOf(t, service, name)
	runs := map[string]bool{}
	for _, event := range events {
		for _, run := range runsOf(t, service, event) {
			runs[run] = true
		}
	}
	expect(t, "bookings", d.text(t, "select count(*) from bookings"), orders)
	expect(t, "bookings of orders", d.text(t, "select count(*) from bookings, orders where order_id = id"), orders)
	expect(t, "runs that have booked", d.text(t, "select count(distinct run_id) from bookings"), orders)
	expect(t, "events", fmt.Sprint(len(events)), orders)
	expect(t, "runs", fmt.Sprint(len(runs)), orders)
	t.Logf("%s orders, %d kills", orders, kills)
}

// eventsOf a name: their internal IDs.
func eventsOf(t *testing.T, service, name string) []string {
	var ids []string
	for cursor := ""; ; {
		var page struct {
			Data []struct {
				InternalID string `json:"internal_id"`
			} `json:"data"`
			Metadata struct {
				Cursor string `json:"cursor"`
			} `json:"metadata"`
		}
		read(t, service+"/v1/events?limit=100&name="+name+cursor, &page)
		for _, event := range page.Data {
			ids = append(ids, event.InternalID)
		}
		if page.Metadata.Cursor == "" {
			return ids
		}
		cursor = "&cursor=" + url.QueryEscape(page.Metadata.Cursor)
	}
}

func runsOf(t *testing.T, service, event string) []string {
	var page struct {
		Data []struct {
			RunID string `json:"run_id"`
		} `json:"data"`
	}
	read(t, service+"/v1/events/"+event+"/runs", &page)
	var ids []string
	for _, run := range page.Data {
		ids = append(ids, run.RunID)
	}
	return ids
}

func read(t *testing.T, url string, into any) {
	t.Helper()
	response := must(http.Get(url))
	defer func() { _ = response.Body.Close() }()
	if err := json.NewDecoder(response.Body).Decode(into); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d, %v", url, response.StatusCode, err)
	}
}
