package main

import (
	"context"
	"log"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/jackc/pgx/v5"
)

// atStatement is before or after a statement.
type atStatement struct {
	statement *regexp.Regexp
	isAfter   bool
}

func before(statement string) atStatement { return atStatement{regexp.MustCompile(statement), false} }

func after(statement string) atStatement { return atStatement{regexp.MustCompile(statement), true} }

// atStatements are points at which the app can die; the others are at requests: see RoundTrip and afterAnswers.
var atStatements = map[string]atStatement{
	"outbox: begun":                           before("^insert into orders"),
	"outbox: order written":                   after("^insert into orders"),
	"outbox: event written":                   after("insert into tidegate_outbox"),
	"outbox: commit asked for":                before("^commit"),
	"outbox: committed":                       after("^commit"),
	"outbox: before the claim":                before("^with locked"),
	"outbox: claimed":                         after("^with locked"),
	"outbox: before the deletion":             before("^delete from tidegate_outbox"),
	"outbox: deleted":                         after("^delete from tidegate_outbox"),
	"transaction: before the step is claimed": before("^insert into tidegate_steps"),
	"transaction: step claimed":               after("^insert into tidegate_steps"),
	"transaction: booking written":            after("^insert into bookings"),
	"transaction: result written":             after("^update tidegate_steps"),
}

// death comes at a point, or never.
type death struct {
	point string
	at    atStatement
	// left are how many times more the app passes the point.
	left atomic.Int64
}

func deathOf(point, times string) *death {
	d := &death{point: point, at: atStatements[point]}
	if times != "" {
		left, err := strconv.ParseInt(times, 10, 64)
		if err != nil {
			log.Fatal(err)
		}
		d.left.Store(left)
	}
	return d
}

func (d *death) pass(isHere bool) {
	if isHere && d.left.Add(-1) < 0 {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
}

type statementKey struct{}

// TraceQueryStart is called by pgx.
func (d *death) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	isHere := d.at.statement != nil && d.at.statement.MatchString(q.SQL)
	d.pass(isHere && !d.at.isAfter)
	return context.WithValue(ctx, statementKey{}, isHere)
}

// TraceQueryEnd is called by pgx.
func (d *death) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryEndData) {
	isHere, _ := ctx.Value(statementKey{}).(bool)
	d.pass(isHere && d.at.isAfter)
}

// RoundTrip is of requests to the service.
func (d *death) RoundTrip(r *http.Request) (*http.Response, error) {
	isSend := strings.HasPrefix(r.URL.Path, "/e/")
	d.pass(isSend && d.point == "outbox: before the send")
	answer, err := http.DefaultTransport.RoundTrip(r)
	d.pass(isSend && d.point == "outbox: sent")
	return answer, err
}

func (d *death) afterAnswers(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r)
		_ = http.NewResponseController(w).Flush()
		d.pass(r.Method == http.MethodPost && d.point == "transaction: answered")
	})
}
