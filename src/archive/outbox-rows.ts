/** The tables `tidegate_outbox` and `tidegate_steps` in the Postgres of an app. The app controls their contents, so
 *  every read is bounded. Relays of the clients work on the same rows. */
import { isArchiveUnavailable } from '../errors.ts';
import { codeOf, Repository, toText, UNDEFINED_TABLE } from './database.ts';

/** A row that this relay sends next. */
export interface ClaimedRow {
  position: number;
  /** Number of the event in its send, from 1. */
  number: number;
  /** Digest of its order key; null: it has none. */
  key: string | null;
  /** Size of its event. */
  bytes: number;
  /** Seconds since the row was first sent. */
  sentSecondsAgo: number;
}

export interface OutboxCounts {
  waiting: number;
  refused: number;
  uncertain: number;
  /** Age of the row that has waited longest. */
  oldestSeconds: number;
  bytes: number;
}

export interface Ended {
  position: number;
  state: 'refused' | 'uncertain';
  error: string;
}

/** The clients' claim, without the events, which may be large, and without their sends. A time may be infinite, and Postgres subtracts no
 *  infinite times. */
export const CLAIM =
  "with locked as ( select position, order_key from tidegate_outbox as candidate where state = 'waiting' and (leased_until is null or leased_until < now()) and (order_key is null or not exists ( select from tidegate_outbox as earlier where earlier.state = 'waiting' and earlier.order_key = candidate.order_key and earlier.position < candidate.position and earlier.leased_until >= now())) order by position limit $1 for update skip locked), due as ( select position, row_number() over (order by position) as number from locked where order_key is null or not exists ( select from tidegate_outbox as earlier where earlier.state = 'waiting' and earlier.order_key = locked.order_key and earlier.position < locked.position and earlier.position not in (select position from locked))) update tidegate_outbox as claimed set leased_until = now() + $2 * interval '1 second', sent_at = coalesce(claimed.sent_at, now()), sends = claimed.sends || ($3 || ',' || due.number) from due where claimed.position = due.position returning claimed.position, " +
  'due.number, md5(claimed.order_key) as key, octet_length(claimed.event::text) as bytes, (extract(epoch from now()) - extract(epoch from claimed.sent_at))::float8 as "sentSecondsAgo"';
/** Finds out whether no relay in the app has the lock that such relays take. */
const APP_HAS_NONE = `SELECT pg_try_advisory_xact_lock_shared(hashtext('tidegate_outbox'), hashtext(coalesce(to_regclass('tidegate_outbox')::oid::text, ''))) AS locked`;
const TAKE_OVER = "UPDATE tidegate_outbox SET leased_until = NULL WHERE state = 'waiting' AND leased_until >= now()";
/** An event may have become larger since the claim. */
const TEXTS = `SELECT position, text FROM tidegate_outbox, coalesce(event::text, 'null') AS text
  WHERE position = ANY($1::bigint[]) AND octet_length(text) <= $2`;
/** Selects sends. A longer text is not the send of a relay. */
const SENDS = `SELECT position, left(send, 64) AS send FROM tidegate_outbox, unnest(sends[1:$2]) AS send WHERE position = ANY($1::bigint[])`;
const DELETE = 'DELETE FROM tidegate_outbox WHERE position = ANY($1::bigint[])';
const END = `UPDATE tidegate_outbox AS row SET state = given.state, error = given.error, ended_at = now(), leased_until = NULL
  FROM unnest($1::bigint[], $2::text[], $3::text[]) AS given(position, state, error) WHERE row.position = given.position`;
const RELEASE =
  "UPDATE tidegate_outbox SET leased_until = NULL WHERE state = 'waiting' AND position = ANY($1::bigint[])";
/** Takes a claim back, as if it had not been made. */
const UNCLAIM = `UPDATE tidegate_outbox AS row SET leased_until = NULL, sends = array_remove(row.sends, given.send),
    sent_at = CASE WHEN array_remove(row.sends, given.send) = '{}' THEN NULL ELSE row.sent_at END
  FROM unnest($1::bigint[], $2::text[]) AS given(position, send)
  WHERE row.position = given.position AND row.state = 'waiting'`;
const STATUS = `SELECT count(*) FILTER (WHERE state = 'waiting') AS waiting, count(*) FILTER (WHERE state = 'refused') AS refused,
    count(*) FILTER (WHERE state = 'uncertain') AS uncertain,
    coalesce(extract(epoch FROM now() - min(created_at) FILTER (WHERE state = 'waiting')), 0)::float8 AS "oldestSeconds",
    pg_total_relation_size('tidegate_outbox') AS bytes
  FROM tidegate_outbox WHERE state <> 'acknowledged'`;
/** A longer text is not the ID of a run. A part of it would come before it, and be found again and again. */
const EARLIER_RUNS = `SELECT DISTINCT run_id AS run FROM tidegate_steps
  WHERE created_at < now() - $1 * interval '1 day' AND run_id > $2 AND length(run_id) <= 64 ORDER BY run LIMIT $3`;
const DELETE_STEPS =
  "DELETE FROM tidegate_steps WHERE run_id = ANY($1::text[]) AND created_at < now() - $2 * interval '1 day'";

const ERROR_MAX = 1_000;

export class OutboxRows extends Repository {
  /** Claims rows, in the order in which they are sent. A claimed row names the send, because the service may accept its event and the
   *  response may be lost.
   *  @param seed of the send */
  async claim(seed: string, most: number, leaseSeconds: number): Promise<ClaimedRow[]> {
    const rows = await this.#query<ClaimedRow & Record<string, unknown>>(CLAIM, [most, leaseSeconds, seed]);
    return rows.sort((a, b) => a.position - b.position);
  }

  /** Whether a relay in the app is alive. */
  async hasRelayOfApp(): Promise<boolean> {
    const [row] = await this.#query<{ locked: boolean }>(APP_HAS_NONE);
    return row?.locked === false;
  }

  /** Ends the leases of all relays. */
  async takeOver(): Promise<void> {
    await this.#query(TAKE_OVER);
  }

  /** The events of at most that size as JSON, by position. */
  async texts(positions: readonly number[], maxBytes: number): Promise<Map<number, string>> {
    const rows = await this.#query<{ position: number; text: string }>(TEXTS, [positions, maxBytes]);
    return new Map(rows.map(({ position, text }) => [position, text]));
  }

  /** The earliest sends of each row, by position. */
  async sends(positions: readonly number[], most: number): Promise<Map<number, string[]>> {
    const rows = await this.#query<{ position: number; send: string }>(SENDS, [positions, most]);
    const byPosition = Map.groupBy(rows, ({ position }) => position);
    return new Map([...byPosition].map(([position, of]) => [position, of.map(({ send }) => send)]));
  }

  async delete(positions: readonly number[]): Promise<void> {
    if (positions.length > 0) await this.#query(DELETE, [positions]);
  }

  async end(rows: readonly Ended[]): Promise<void> {
    if (rows.length === 0) return;
    const errors = rows.map(({ error }) => toText(error.slice(0, ERROR_MAX)));
    await this.#query(END, [rows.map(({ position }) => position), rows.map(({ state }) => state), errors]);
  }

  /** Ends the leases of rows that may have been accepted. */
  async release(positions: readonly number[]): Promise<void> {
    if (positions.length > 0) await this.#query(RELEASE, [positions]);
  }

  /** Withdraws the claims of rows that were certainly not sent. */
  async unclaim(seed: string, rows: readonly Pick<ClaimedRow, 'position' | 'number'>[]): Promise<void> {
    if (rows.length === 0) return;
    await this.#query(UNCLAIM, [rows.map(({ position }) => position), rows.map(({ number }) => `${seed},${number}`)]);
  }

  async counts(): Promise<OutboxCounts> {
    const [counts] = await this.#query<OutboxCounts & Record<string, unknown>>(STATUS);
    return counts as OutboxCounts;
  }

  /** What steps of that age have as the IDs of their runs, in order, after the given one. */
  async earlierRuns(days: number, after: string, most: number): Promise<string[]> {
    return (await this.#query<{ run: string }>(EARLIER_RUNS, [days, after, most])).map(({ run }) => run);
  }

  async deleteSteps(runs: readonly string[], days: number): Promise<void> {
    if (runs.length > 0) await this.#query(DELETE_STEPS, [runs, days]);
  }

  async #query<R extends Record<string, unknown>>(text: string, values: readonly unknown[] = []): Promise<R[]> {
    try {
      return await this.database.query<R>(text, values);
    } catch (error) {
      throw explained(error as Error);
    }
  }
}

/** Says that the error is about the Postgres of the outbox, not about that of the archive. */
function explained(error: Error): Error {
  if (codeOf(error) === UNDEFINED_TABLE) {
    const message = `the database of the outbox: ${error.message}; its app's migrations need what \`tidegate outbox migrate --print\` prints`;
    return new Error(message, { cause: error });
  }
  const reason = isArchiveUnavailable(error) ? ((error.cause as Error | undefined)?.message ?? '') : error.message;
  return new Error(`the database of the outbox: ${reason || 'no response'}`, { cause: error });
}
