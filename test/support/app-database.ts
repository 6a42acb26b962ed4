/** The Postgres of an app, with an outbox: a schema of its own in the real Postgres of the tests. */
import pg from 'pg';
import { ulid } from 'ulid';
import { SCHEMA } from '../../clients/typescript/src/postgres/statements.ts';
import { dropSchema, postgresUrl } from './postgres.ts';

export interface AppEvent {
  name: string;
  data?: object;
  id?: string;
  ts?: number;
}

export class AppDatabase {
  readonly schema = `app_${ulid().toLowerCase()}`;
  readonly #client: pg.Client;

  private constructor() {
    this.#client = new pg.Client({ connectionString: this.urlAt(postgresUrl()) });
  }

  static async create(): Promise<AppDatabase> {
    const database = new AppDatabase();
    await database.#client.connect();
    await database.query(`create schema ${database.schema}`);
    await database.query(SCHEMA);
    return database;
  }

  get url(): string {
    return this.urlAt(postgresUrl());
  }

  /** With its schema, at another address of the same Postgres. */
  urlAt(address: string): string {
    const url = new URL(address);
    url.searchParams.set('options', `-c search_path=${this.schema}`);
    return url.href;
  }

  async query<R extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<R[]> {
    return (await this.#client.query<R>(text, values)).rows;
  }

  /** Adds rows, as the clients do in the app's transaction. */
  async add(events: readonly (AppEvent | unknown)[], key: string | null = null): Promise<void> {
    for (const event of events) {
      await this.query('insert into tidegate_outbox (event, order_key) values ($1::text::json, $2)', [
        JSON.stringify(event),
        key,
      ]);
    }
    await this.query("select pg_notify('tidegate_outbox', '')");
  }

  /** What is left, in order. */
  async rows(): Promise<{ state: string; event: { id?: string } | null; error: string | null; sends: string[] }[]> {
    return this.query('select state, event, error, sends from tidegate_outbox order by position');
  }

  async remove(): Promise<void> {
    await this.#client.end();
    await dropSchema(this.schema);
  }
}
