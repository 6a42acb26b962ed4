/** The tables in a schema of their own, and a service in memory that forgets deduplication IDs after 24 hours. */
import pg from 'pg';
import { postgresUrl } from '../../../../test/support/postgres.ts';
import type { OutgoingEvent } from '../../src/events.ts';
import type { BatchOptions } from '../../src/postgres/batch.ts';
import type { Queries, Row } from '../../src/postgres/database.ts';
import type { Sender, Sent } from '../../src/postgres/sender.ts';
import { SCHEMA } from '../../src/postgres/statements.ts';
import { seededId } from '../../src/seed.ts';

export interface Tables {
  pool: pg.Pool;
  url: string;
  /** The first column of the rows. */
  column(text: string): Promise<unknown[]>;
  /** As if all had happened so much earlier. */
  pass(hours: number): Promise<void>;
  empty(): Promise<void>;
  drop(): Promise<void>;
}

/** Also an empty table `orders` of the app. */
export async function createTables(schema: string): Promise<Tables> {
  const url = `${postgresUrl()}?options=-c%20search_path%3D${schema}`;
  const pool = new pg.Pool({ connectionString: url, max: 5 });
  pool.on('error', () => {});
  await pool.query(`create schema ${schema}`);
  await pool.query(`${SCHEMA}; create table orders (id text primary key, total int not null default 0)`);
  const moved = (column: string, hours: number) => `${column} = ${column} - interval '${hours} hours'`;
  return {
    pool,
    url,
    async column(text) {
      const { rows } = await pool.query({ text, rowMode: 'array' });
      return rows.map(([value]) => value);
    },
    async pass(hours) {
      const columns = ['created_at', 'sent_at', 'leased_until', 'ended_at'].map((column) => moved(column, hours));
      await pool.query(`update tidegate_outbox set ${columns}`);
      await pool.query(`update tidegate_steps set ${moved('created_at', hours)}`);
    },
    async empty() {
      await pool.query('truncate tidegate_outbox, tidegate_steps, orders');
    },
    async drop() {
      await pool.query(`drop schema ${schema} cascade`);
      await pool.end();
    },
  };
}

export type Fault = 'none' | 'away' | 'response lost' | 'half accepted';

export class FakeService implements Sender {
  /** Deduplication IDs in the order of their acceptance: those of events that count. */
  readonly accepted: string[] = [];
  /** Deduplication IDs in the order in which they came. */
  readonly received: string[] = [];
  readonly runs = new Set<string>();
  fault: Fault = 'none';
  canTell = true;
  #hours = 0;
  readonly #acceptedAt = new Map<string, number>();
  readonly #internalIds = new Map<string, number>();

  pass(hours: number): void {
    this.#hours += hours;
  }

  async send(events: readonly OutgoingEvent[], seed: string): Promise<Sent> {
    if (this.fault === 'away') return { ids: [], failure: { message: 'away', isFinal: false } };
    if (events.some(({ name }) => name === 'refused')) {
      return { ids: [], failure: { message: 'an event is invalid', isFinal: true } };
    }
    const count = this.fault === 'half accepted' ? Math.floor(events.length / 2) : events.length;
    const ids = events
      .slice(0, count)
      .map((event, index) => this.#accept(event.id as string, seededId(seed, index + 1)));
    if (this.fault === 'response lost') return { ids: [], failure: { message: 'no response', isFinal: false } };
    return count === events.length ? { ids } : { ids, failure: { message: 'no response', isFinal: false } };
  }

  #accept(id: string, internalId: string): string {
    this.received.push(id);
    const before = this.#acceptedAt.get(id);
    if (before === undefined || this.#hours - before >= 24) {
      this.accepted.push(id);
      this.#acceptedAt.set(id, this.#hours);
      this.#internalIds.set(internalId, this.#hours);
    }
    return internalId;
  }

  async findEvents(ids: readonly string[]): Promise<Set<string>> {
    if (!this.canTell) throw new Error('it cannot tell');
    return new Set(ids.filter((id) => this.#hours - (this.#internalIds.get(id) ?? Number.NEGATIVE_INFINITY) < 168));
  }

  async findRuns(ids: readonly string[]): Promise<Set<string>> {
    if (!this.canTell) throw new Error('it cannot tell');
    return new Set(ids.filter((id) => this.runs.has(id)));
  }
}

export const BATCH: BatchOptions = { limit: 100, keepsRows: false, retentionDays: 7, closing: () => false };

/** A process that dies before or after its nth statement: what follows is not done. */
export function dyingAt(db: Queries, point: { statement: number; when: 'before' | 'after' }): Queries {
  let statement = 0;
  const die = () => {
    throw new Error('the process died');
  };
  return {
    async query(text, values): Promise<Row[]> {
      statement += 1;
      if (statement > point.statement || (statement === point.statement && point.when === 'before')) die();
      const rows = await db.query(text, values);
      return statement === point.statement ? die() : rows;
    },
  };
}
