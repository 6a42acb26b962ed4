// Package pg is what the packages postgres and step share: the two tables in the app's own Postgres, every statement on them, and the ways to
// run one with database/sql and with pgx, without requiring pgx or lib/pq.
package pg

import (
	"fmt"
	"regexp"
	"strings"
)

// The statements are the same in all clients (clients/conformance/postgres.json). Names resolve by the search_path of the connection.
const (
	// OutboxInsert adds an event to the outbox within the app's transaction, and wakes relays after its commit; several events have a list of values each
	// ([OutboxInsertOf]). $1: event as JSON; $2: key of its order, or null.
	OutboxInsert = `insert into tidegate_outbox (event, order_key) values ($1::text::json, $2::text) returning pg_notify('tidegate_outbox', '')::text as notified`
	// OutboxClaim leases waiting rows, oldest first, and records the send in them before it is made. $1: most rows; $2: seconds of the lease; $3: seed of the send.
	OutboxClaim = `with locked as ( select position, order_key from tidegate_outbox as candidate where state = 'waiting' and (leased_until is null or leased_until < now()) and (order_key is null or not exists ( select from tidegate_outbox as earlier where earlier.state = 'waiting' and earlier.order_key = candidate.order_key and earlier.position < candidate.position and earlier.leased_until >= now())) order by position limit $1 for update skip locked), due as ( select position, row_number() over (order by position) as number from locked where order_key is null or not exists ( select from tidegate_outbox as earlier where earlier.state = 'waiting' and earlier.order_key = locked.order_key and earlier.position < locked.position and earlier.position not in (select position from locked))) update tidegate_outbox as claimed set leased_until = now() + $2 * interval '1 second', sent_at = coalesce(claimed.sent_at, now()), sends = claimed.sends || ($3 || ',' || due.number) from due where claimed.position = due.position returning claimed.position, claimed.event::text as event, claimed.order_key, claimed.sends, extract(epoch from now() - claimed.sent_at)::float8 as sent_seconds_ago`
	// OutboxDelete removes acknowledged rows. $1: positions.
	OutboxDelete = `delete from tidegate_outbox where position = any($1::bigint[])`
	// OutboxAcknowledge keeps acknowledged rows. $1: positions; $2: internal IDs of their events.
	OutboxAcknowledge = `update tidegate_outbox as row set state = 'acknowledged', event_id = given.event_id, ended_at = now(), leased_until = null from unnest($1::bigint[], $2::text[]) as given(position, event_id) where row.position = given.position`
	// OutboxEnd ends rows that are refused or uncertain. $1: positions; $2: 'refused' or 'uncertain'; $3: errors.
	OutboxEnd = `update tidegate_outbox as row set state = $2, error = given.error, ended_at = now(), leased_until = null from unnest($1::bigint[], $3::text[]) as given(position, error) where row.position = given.position`
	// OutboxRelease ends the lease of rows that wait for the next send. $1: positions.
	OutboxRelease = `update tidegate_outbox set leased_until = null where state = 'waiting' and position = any($1::bigint[])`
	// OutboxForget removes rows that were acknowledged longer ago than they are kept. $1: days; $2: most rows.
	OutboxForget = `delete from tidegate_outbox where position in ( select position from tidegate_outbox where state = 'acknowledged' and ended_at < now() - $1 * interval '1 day' limit $2)`
	// OutboxStatus tells how many rows are in which state, the age of the oldest in seconds, and the size of the table in bytes.
	OutboxStatus = `select count(*) filter (where state = 'waiting') as waiting, count(*) filter (where state = 'refused') as refused, count(*) filter (where state = 'uncertain') as uncertain, coalesce(extract(epoch from now() - min(created_at) filter (where state = 'waiting')), 0)::float8 as oldest_seconds, pg_total_relation_size('tidegate_outbox') as bytes from tidegate_outbox where state <> 'acknowledged'`
	// RelayLock makes this connection the only relay among the instances of an app.
	RelayLock = `select pg_try_advisory_lock(hashtext('tidegate_outbox'), hashtext(coalesce(to_regclass('tidegate_outbox')::oid::text, ''))) as locked`
	// RelayTakeOver ends the leases of a relay that died with the lock.
	RelayTakeOver = `update tidegate_outbox set leased_until = null where state = 'waiting' and leased_until >= now()`
	// StepBegin claims a step within its transaction: no row if it has ended; waits for another attempt that is under way. $1: run ID; $2: hashed step ID.
	StepBegin = `insert into tidegate_steps (run_id, step_id) values ($1, $2) on conflict do nothing returning run_id`
	// StepResult reads the result of an ended step. $1: run ID; $2: hashed step ID.
	StepResult = `select result::text as result from tidegate_steps where run_id = $1 and step_id = $2`
	// StepEnd stores the result of a step within its transaction. $1: run ID; $2: hashed step ID; $3: result as JSON.
	StepEnd = `update tidegate_steps set result = $3::text::json where run_id = $1 and step_id = $2`
	// StepsOfEarlierRuns lists runs with steps that are old enough to be forgotten. $1: days; $2: most runs; $3: the run ID after which the list begins.
	StepsOfEarlierRuns = `select distinct run_id from tidegate_steps where created_at < now() - $1 * interval '1 day' and run_id > $3 and length(run_id) <= 64 order by run_id limit $2`
	// StepsDelete removes the steps of runs that the service no longer has. $1: run IDs; $2: days.
	StepsDelete = `delete from tidegate_steps where run_id = any($1::text[]) and created_at < now() - $2 * interval '1 day'`
)

// Statements by their names in the cases.
var Statements = map[string]string{
	"outbox_insert":         OutboxInsert,
	"outbox_claim":          OutboxClaim,
	"outbox_delete":         OutboxDelete,
	"outbox_acknowledge":    OutboxAcknowledge,
	"outbox_end":            OutboxEnd,
	"outbox_release":        OutboxRelease,
	"outbox_forget":         OutboxForget,
	"outbox_status":         OutboxStatus,
	"relay_lock":            RelayLock,
	"relay_take_over":       RelayTakeOver,
	"step_begin":            StepBegin,
	"step_result":           StepResult,
	"step_end":              StepEnd,
	"steps_of_earlier_runs": StepsOfEarlierRuns,
	"steps_delete":          StepsDelete,
}

var oneList = regexp.MustCompile(`\(\$1.*?\)`)

// OutboxInsertOf is OutboxInsert for so many events.
func OutboxInsertOf(events int) string {
	lists := make([]string, events)
	for i := range lists {
		lists[i] = fmt.Sprintf("($%d::text::json, $%d::text)", 2*i+1, 2*i+2)
	}
	return oneList.ReplaceAllLiteralString(OutboxInsert, strings.Join(lists, ", "))
}
