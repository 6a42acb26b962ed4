/** The tables in the app's own Postgres, and every statement on them: the same in all clients (clients/conformance/postgres.json). Names resolve by the
 *  search_path of the connection. */

/** The channel on which relays listen. */
export const CHANNEL = 'tidegate_outbox';

/** For the app's migrations. */
export const SCHEMA = `create table tidegate_outbox (
  position bigint generated always as identity primary key,
  event json not null,
  order_key text,
  state text not null default 'waiting' check (state in ('waiting', 'acknowledged', 'refused', 'uncertain')),
  created_at timestamptz not null default now(),
  sent_at timestamptz,
  sends text[] not null default '{}',
  leased_until timestamptz,
  event_id text,
  ended_at timestamptz,
  error text
);
create index tidegate_outbox_waiting on tidegate_outbox (position) where state = 'waiting';
create index tidegate_outbox_order on tidegate_outbox (order_key, position) where state = 'waiting' and order_key is not null;
create index tidegate_outbox_ended on tidegate_outbox (ended_at) where state <> 'waiting';

create table tidegate_steps (
  run_id text not null,
  step_id text not null,
  result json,
  created_at timestamptz not null default now(),
  primary key (run_id, step_id)
);
create index tidegate_steps_created_at on tidegate_steps using brin (created_at);`;

/** Adds an event to the outbox within the app's transaction, and wakes relays after its commit; several events have a list of values each (outbox.ts).
 *  $1: event as JSON; $2: key of its order, or null. */
export const OUTBOX_INSERT =
  "insert into tidegate_outbox (event, order_key) values ($1::text::json, $2::text) returning pg_notify('tidegate_outbox', '')::text as notified";

/** Leases waiting rows, oldest first, and records the send in them before it is made. $1: most rows; $2: seconds of the lease; $3: seed of the send. */
export const OUTBOX_CLAIM =
  "with locked as ( select position, order_key from tidegate_outbox as candidate where state = 'waiting' and (leased_until is null or leased_until < now()) and (order_key is null or not exists ( select from tidegate_outbox as earlier where earlier.state = 'waiting' and earlier.order_key = candidate.order_key and earlier.position < candidate.position and earlier.leased_until >= now())) order by position limit $1 for update skip locked), due as ( select position, row_number() over (order by position) as number from locked where order_key is null or not exists ( select from tidegate_outbox as earlier where earlier.state = 'waiting' and earlier.order_key = locked.order_key and earlier.position < locked.position and earlier.position not in (select position from locked))) update tidegate_outbox as claimed set leased_until = now() + $2 * interval '1 second', sent_at = coalesce(claimed.sent_at, now()), sends = claimed.sends || ($3 || ',' || due.number) from due where claimed.position = due.position returning claimed.position, claimed.event::text as event, claimed.order_key, claimed.sends, extract(epoch from now() - claimed.sent_at)::float8 as sent_seconds_ago";

/** Removes acknowledged rows. $1: positions. */
export const OUTBOX_DELETE = 'delete from tidegate_outbox where position = any($1::bigint[])';

/** Keeps acknowledged rows. $1: positions; $2: internal IDs of their events. */
export const OUTBOX_ACKNOWLEDGE =
  "update tidegate_outbox as row set state = 'acknowledged', event_id = given.event_id, ended_at = now(), leased_until = null from unnest($1::bigint[], $2::text[]) as given(position, event_id) where row.position = given.position";

/** Ends rows that are refused or uncertain. $1: positions; $2: 'refused' or 'uncertain'; $3: errors. */
export const OUTBOX_END =
  'update tidegate_outbox as row set state = $2, error = given.error, ended_at = now(), leased_until = null from unnest($1::bigint[], $3::text[]) as given(position, error) where row.position = given.position';

/** Ends the lease of rows that wait for the next send. $1: positions. */
export const OUTBOX_RELEASE =
  "update tidegate_outbox set leased_until = null where state = 'waiting' and position = any($1::bigint[])";

/** Removes rows that were acknowledged longer ago than they are kept. $1: days; $2: most rows. */
export const OUTBOX_FORGET =
  "delete from tidegate_outbox where position in ( select position from tidegate_outbox where state = 'acknowledged' and ended_at < now() - $1 * interval '1 day' limit $2)";

/** Tells how many rows are in which state, the age of the oldest in seconds, and the size of the table in bytes. */
export const OUTBOX_STATUS =
  "select count(*) filter (where state = 'waiting') as waiting, count(*) filter (where state = 'refused') as refused, count(*) filter (where state = 'uncertain') as uncertain, coalesce(extract(epoch from now() - min(created_at) filter (where state = 'waiting')), 0)::float8 as oldest_seconds, pg_total_relation_size('tidegate_outbox') as bytes from tidegate_outbox where state <> 'acknowledged'";

/** Makes this connection the only relay among the instances of an app. */
export const RELAY_LOCK =
  "select pg_try_advisory_lock(hashtext('tidegate_outbox'), hashtext(coalesce(to_regclass('tidegate_outbox')::oid::text, ''))) as locked";

/** Ends the leases of a relay that died with the lock. */
export const RELAY_TAKE_OVER =
  "update tidegate_outbox set leased_until = null where state = 'waiting' and leased_until >= now()";

/** Claims a step within its transaction: no row if it has ended; waits for another attempt that is under way. $1: run ID; $2: hashed step ID. */
export const STEP_BEGIN =
  'insert into tidegate_steps (run_id, step_id) values ($1, $2) on conflict do nothing returning run_id';

/** Reads the result of an ended step. $1: run ID; $2: hashed step ID. */
export const STEP_RESULT = 'select result::text as result from tidegate_steps where run_id = $1 and step_id = $2';

/** Stores the result of a step within its transaction. $1: run ID; $2: hashed step ID; $3: result as JSON. */
export const STEP_END = 'update tidegate_steps set result = $3::text::json where run_id = $1 and step_id = $2';

/** Lists runs with steps that are old enough to be forgotten. $1: days; $2: most runs; $3: the run ID after which the list begins. */
export const STEPS_OF_EARLIER_RUNS =
  "select distinct run_id from tidegate_steps where created_at < now() - $1 * interval '1 day' and run_id > $3 and length(run_id) <= 64 order by run_id limit $2";

/** Removes the steps of runs that the service no longer has. $1: run IDs; $2: days. */
export const STEPS_DELETE =
  "delete from tidegate_steps where run_id = any($1::text[]) and created_at < now() - $2 * interval '1 day'";
