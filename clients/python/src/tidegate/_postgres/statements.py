"""Every statement on the tables in the app's own Postgres: the same in all clients (clients/conformance/postgres.json).

Names resolve by the search_path of the connection. `tidegate outbox migrate --print` prints the tables.
"""

CHANNEL = "tidegate_outbox"
"""The channel on which relays listen."""

OUTBOX_INSERT = (
    "insert into tidegate_outbox (event, order_key) values ($1::text::json, $2::text) returning "
    "pg_notify('tidegate_outbox', '')::text as notified"
)
"""Adds an event to the outbox within the app's transaction, and wakes relays after its commit; several events have a
list of values each (outbox.py). $1: event as JSON; $2: key of its order, or null."""

OUTBOX_CLAIM = (
    "with locked as ( select position, order_key from tidegate_outbox as candidate where state = 'waiting' "
    "and (leased_until is null or leased_until < now()) and (order_key is null or not exists ( select from "
    "tidegate_outbox as earlier where earlier.state = 'waiting' and earlier.order_key = candidate.order_key "
    "and earlier.position < candidate.position and earlier.leased_until >= now())) order by position limit $1 "
    "for update skip locked), due as ( select position, row_number() over (order by position) as number from "
    "locked where order_key is null or not exists ( select from tidegate_outbox as earlier where "
    "earlier.state = 'waiting' and earlier.order_key = locked.order_key and earlier.position < "
    "locked.position and earlier.position not in (select position from locked))) update tidegate_outbox as "
    "claimed set leased_until = now() + $2 * interval '1 second', sent_at = coalesce(claimed.sent_at, now()), "
    "sends = claimed.sends || ($3 || ',' || due.number) from due where claimed.position = due.position "
    "returning claimed.position, claimed.event::text as event, claimed.order_key, claimed.sends, "
    "extract(epoch from now() - claimed.sent_at)::float8 as sent_seconds_ago"
)
"""Leases waiting rows, oldest first, and records the send in them before it is made. $1: most rows;
$2: seconds of the lease; $3: seed of the send."""

OUTBOX_DELETE = "delete from tidegate_outbox where position = any($1::bigint[])"
"""Removes acknowledged rows. $1: positions."""

OUTBOX_ACKNOWLEDGE = (
    "update tidegate_outbox as row set state = 'acknowledged', event_id = given.event_id, ended_at = now(), "
    "leased_until = null from unnest($1::bigint[], $2::text[]) as given(position, event_id) where "
    "row.position = given.position"
)
"""Keeps acknowledged rows. $1: positions; $2: internal IDs of their events."""

OUTBOX_END = (
    "update tidegate_outbox as row set state = $2, error = given.error, ended_at = now(), leased_until = null "
    "from unnest($1::bigint[], $3::text[]) as given(position, error) where row.position = given.position"
)
"""Ends rows that are refused or uncertain. $1: positions; $2: 'refused' or 'uncertain'; $3: errors."""

OUTBOX_RELEASE = (
    "update tidegate_outbox set leased_until = null where state = 'waiting' and position = any($1::bigint[])"
)
"""Ends the lease of rows that wait for the next send. $1: positions."""

OUTBOX_FORGET = (
    "delete from tidegate_outbox where position in ( select position from tidegate_outbox where state = "
    "'acknowledged' and ended_at < now() - $1 * interval '1 day' limit $2)"
)
"""Removes rows that were acknowledged longer ago than they are kept. $1: days; $2: most rows."""

OUTBOX_STATUS = (
    "select count(*) filter (where state = 'waiting') as waiting, count(*) filter (where state = 'refused') "
    "as refused, count(*) filter (where state = 'uncertain') as uncertain, coalesce(extract(epoch from now() "
    "- min(created_at) filter (where state = 'waiting')), 0)::float8 as oldest_seconds, "
    "pg_total_relation_size('tidegate_outbox') as bytes from tidegate_outbox where state <> 'acknowledged'"
)
"""Tells how many rows are in which state, the age of the oldest in seconds, and the size of the
table in bytes."""

RELAY_LOCK = (
    "select pg_try_advisory_lock(hashtext('tidegate_outbox'), "
    "hashtext(coalesce(to_regclass('tidegate_outbox')::oid::text, ''))) as locked"
)
"""Makes this connection the only relay among the instances of an app."""

RELAY_TAKE_OVER = "update tidegate_outbox set leased_until = null where state = 'waiting' and leased_until >= now()"
"""Ends the leases of a relay that died with the lock."""

STEP_BEGIN = "insert into tidegate_steps (run_id, step_id) values ($1, $2) on conflict do nothing returning run_id"
"""Claims a step within its transaction: no row if it has ended; waits for another attempt that is under
way. $1: run ID; $2: hashed step ID."""

STEP_RESULT = "select result::text as result from tidegate_steps where run_id = $1 and step_id = $2"
"""Reads the result of an ended step. $1: run ID; $2: hashed step ID."""

STEP_END = "update tidegate_steps set result = $3::text::json where run_id = $1 and step_id = $2"
"""Stores the result of a step within its transaction. $1: run ID; $2: hashed step ID; $3: result as JSON."""

STEPS_OF_EARLIER_RUNS = (
    "select distinct run_id from tidegate_steps where created_at < now() - $1 * interval '1 day' and run_id > "
    "$3 and length(run_id) <= 64 order by run_id limit $2"
)
"""Lists runs with steps that are old enough to be forgotten. $1: days; $2: most runs; $3:
the run ID after which the list begins."""

STEPS_DELETE = (
    "delete from tidegate_steps where run_id = any($1::text[]) and created_at < now() - $2 * interval '1 day'"
)
"""Removes the steps of runs that the service no longer has. $1: run IDs; $2: days."""
