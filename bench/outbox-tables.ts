/** The Postgres of an app in the test bed, and what the app writes into it. */
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { SCHEMA } from 'tidegate/postgres';
import { freePort } from '../scripts/lib/ports.ts';
import type { TestBed } from './test-bed.ts';

export const EVENTS = { paid: 'bench/order.paid', transaction: 'bench/transaction', run: 'bench/run' };
/** Of a run. */
export const STEPS = 10;
export const INSERT_ORDER = 'insert into orders (id) values ($1)';
export const INSERT_BOOKING = 'insert into bookings (order_id, run_id) values ($1, $2) returning number';

/** What the outbox is compared with: a table with no index apart from its key, and one with all of the outbox's. */
const TABLES = `${SCHEMA};
  create table orders (id text primary key);
  create table bookings (number bigint generated always as identity primary key, order_id text not null, run_id text not null);
  create table plain_events (position bigint generated always as identity primary key, event json not null);
  create table indexed_events (like tidegate_outbox including all)`;
export const INSERT_PLAIN = 'insert into plain_events (event) values ($1::text::json)';
export const INSERT_INDEXED = 'insert into indexed_events (event) values ($1::text::json)';
const DATABASE = 'app';

export class AppTables {
  readonly url: string;
  readonly pool: pg.Pool;
  /** Of the app that is registered. */
  readonly appPort: number;

  private constructor(url: string, appPort: number) {
    this.url = url;
    this.appPort = appPort;
    this.pool = new pg.Pool({ connectionString: url, max: 16 });
    // The end of Postgres ends its connections.
    this.pool.on('error', () => {});
  }

  static async create({ archive }: TestBed): Promise<AppTables> {
    await archive.client.query(`create database ${DATABASE}`);
    const tables = new AppTables(
      Object.assign(new URL(archive.url), { pathname: `/${DATABASE}` }).href,
      await freePort(),
    );
    await tables.pool.query(TABLES);
    return tables;
  }

  async empty(): Promise<void> {
    await this.pool.query('truncate tidegate_outbox, tidegate_steps, orders, bookings, plain_events, indexed_events');
  }

  /** Resolves when the outbox is empty. */
  async untilSent(): Promise<void> {
    while ((await this.pool.query('select from tidegate_outbox')).rowCount) await setTimeout(10);
  }

  close(): Promise<void> {
    return this.pool.end();
  }
}
