/** Commands for rows of the outbox that no relay can decide about. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CliError, EXIT, usageError } from './exit-codes.ts';

export const STATES = ['waiting', 'acknowledged', 'refused', 'uncertain'] as const;
export type State = (typeof STATES)[number];

/** Rows that wait for a person. */
export const DECIDABLE: readonly State[] = ['refused', 'uncertain'];

export interface OutboxRow {
  position: string;
  state: State;
  name: string | null;
  id: string | null;
  order_key: string | null;
  created_at: Date;
  sent_at: Date | null;
  sends: number;
  error: string | null;
}

interface Connection {
  connect(): Promise<unknown>;
  query(text: string, values: readonly unknown[]): Promise<{ rows: unknown[] }>;
  end(): Promise<void>;
  on(name: 'error', listener: (error: Error) => void): unknown;
}
interface Pool {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
  connect(): Promise<unknown>;
  totalCount: number;
  end(): Promise<void>;
  on(name: 'error', listener: (error: Error) => void): unknown;
}
type Library = { Client: new (options: object) => Connection; Pool: new (options: object) => Pool };

/** Texts of an app may have any length, and Postgres fails to read any field of JSON that has U+0000 somewhere. */
const LIST = `select position::text, state, left(readable->>'name', 256) as name, left(readable->>'id', 512) as id,
  left(order_key, 256) as order_key, created_at, sent_at, cardinality(sends) as sends, left(error, 1000) as error
  from tidegate_outbox, lateral (select replace(event::text, '\\u0000', '\\ufffd')::json as readable) as of_event
  where state = any($1) order by tidegate_outbox.position limit $2`;
/** As if it had not been sent before: the person has decided that it is sent. */
const RESEND = `with changed as (update tidegate_outbox set state = 'waiting', sent_at = null, sends = '{}', leased_until = null, ended_at = null, error = null
  where state in ('refused', 'uncertain') and position = any($1::bigint[]) returning position),
  woken as (select pg_notify('tidegate_outbox', '') from changed limit 1)
  select position::text, (select count(*) from woken) from changed order by changed.position`;
const DROP = `with dropped as (delete from tidegate_outbox where state in ('refused', 'uncertain') and position = any($1::bigint[]) returning position)
  select position::text from dropped order by dropped.position`;
const UNDEFINED_TABLE = '42P01';
export const CONNECT_MS = 10_000;

export class Outbox {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  list(states: readonly State[], limit: number): Promise<OutboxRow[]> {
    return this.#query(LIST, [states, limit]);
  }

  /** @returns positions of the rows that are sent again: only refused and uncertain rows are */
  async resend(positions: readonly string[]): Promise<string[]> {
    return (await this.#query<{ position: string }>(RESEND, [positions])).map(({ position }) => position);
  }

  /** @returns positions of the rows that are deleted: only refused and uncertain rows are */
  async drop(positions: readonly string[]): Promise<string[]> {
    return (await this.#query<{ position: string }>(DROP, [positions])).map(({ position }) => position);
  }

  async #query<Row>(text: string, values: readonly unknown[]): Promise<Row[]> {
    try {
      return (await this.#connection.query(text, values)).rows as Row[];
    } catch (error) {
      const { code, message } = error as { code?: string; message: string };
      if (code !== UNDEFINED_TABLE) throw new CliError(`Postgres: ${message}`);
      throw new CliError(`Postgres: ${message}`, {
        hint: 'Add the tables to the migrations of the app: tidegate outbox migrate --print',
      });
    }
  }
}

/** @throws CliError */
export async function withOutbox<T>(url: string | undefined, work: (outbox: Outbox) => Promise<T>): Promise<T> {
  if (url === undefined || url === '') {
    throw usageError('The database of the app is missing', 'Set DATABASE_URL, or give --database-url');
  }
  const { Client } = await library();
  let connection: Connection;
  try {
    connection = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS });
    connection.on('error', () => {});
    await connection.connect();
  } catch (error) {
    const { message, code } = error as { message: string; code?: string };
    throw new CliError(`Postgres cannot be reached: ${message || code}`, { exitCode: EXIT.unreachable });
  }
  try {
    return await work(new Outbox(connection));
  } finally {
    await connection.end();
  }
}

/** The package pg of the app: neither the client nor the command line brings one. */
export async function library(): Promise<Library> {
  for (const folder of [process.cwd(), import.meta.dirname]) {
    let path: string;
    try {
      path = createRequire(join(folder, 'package.json')).resolve('pg');
    } catch {
      continue;
    }
    const loaded = (await import(pathToFileURL(path).href)) as Library & { default?: Library };
    return loaded.default ?? loaded;
  }
  throw usageError(
    'The package pg is not installed here',
    'Run the command in the folder of the app, or: npm install pg',
  );
}
