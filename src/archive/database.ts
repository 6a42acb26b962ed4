/** Connection pool to Postgres, the meaning of its errors, and the representation of IDs and texts. Connects with the first query; while Postgres is down, every query fails
 *  soon. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type pg from 'pg';
import type { ArchiveSettings } from '../config.ts';
import { isArchiveUnavailable, ServiceError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { hexOf, ID_PATTERN, idOfHex } from '../model/ids.ts';
import { postgres } from './packages.ts';

const CONNECT_TIMEOUT_MS = 2_000;
const IDLE_MS = 30_000;
/** Time limit of a statement that reads for the API. Searches have a shorter limit of their own. */
export const STATEMENT_TIMEOUT_MS = 10_000;
/** Limit of any statement, including the longest shipments: a hung Postgres would otherwise keep the connection and its user forever. */
const NO_RESPONSE_MS = 150_000;
/** Time for the response beyond the statement's limit in Postgres. */
const RESPONSE_MARGIN_MS = 2_000;
/** Time for statements in progress, at shutdown. */
const CLOSE_MS = 2_000;
/** Idle time before keep-alive probes, because a vanished host does not close connections. */
const KEEP_ALIVE_AFTER_MS = 10_000;
const RETRY_AFTER_SECONDS = 5;
/** SQLSTATE classes of a Postgres that is down, starting, stopping or full:
 *  https://www.postgresql.org/docs/current/errcodes-appendix.html */
const UNAVAILABLE_STATE = /^(08|53|57P|58)/;
/** SQLSTATE codes. A statement that times out is canceled. */
export const QUERY_CANCELED = '57014';
export const UNIQUE_VIOLATION = '23505';
export const UNDEFINED_TABLE = '42P01';
const SOCKET_ERROR = /^E[A-Z]+$/;
const UNAVAILABLE_MESSAGE =
  /timeout exceeded when trying to connect|^timeout expired$|Query read timeout|Connection terminated|connection timeout/i;

/** Reads bigint as a number: all are counts, sizes or milliseconds. */
function typesOf({ types }: typeof pg): pg.CustomTypesConfig {
  const getTypeParser = (oid: number, format?: 'text' | 'binary') =>
    oid === types.builtins.INT8 ? Number : types.getTypeParser(oid, format);
  return { getTypeParser: getTypeParser as typeof pg.types.getTypeParser };
}

export type Row = Record<string, unknown>;
export type Client = pg.PoolClient;

export interface DatabaseSettings extends Pick<ArchiveSettings, 'url' | 'tlsVerify' | 'poolSize'> {
  /** undefined: the database has another owner, whose search_path it has and whose pooler may refuse options. */
  schema?: string;
}

export class Database {
  readonly schema: string;
  readonly #pool: pg.Pool;
  #precondition: (() => Promise<void>) | undefined;

  constructor({ url, tlsVerify, poolSize, schema }: DatabaseSettings, log: Logger, applicationName = 'tidegate') {
    this.schema = schema ?? '';
    const library = postgres();
    this.#pool = new library.Pool({
      ...connectionOf(url, tlsVerify),
      max: poolSize,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      idleTimeoutMillis: IDLE_MS,
      query_timeout: NO_RESPONSE_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
      allowExitOnIdle: true,
      application_name: applicationName,
      ...(schema !== undefined && {
        options: `-c search_path=${schema} -c statement_timeout=${STATEMENT_TIMEOUT_MS} -c timezone=UTC`,
      }),
      types: typesOf(library),
    });
    this.#pool.on('error', (error) => log.debug({ err: error.message }, 'idle connection to Postgres'));
  }

  /** Makes all queries wait until this check resolves. */
  openAfter(check: () => Promise<void>): void {
    this.#precondition = async () => {
      await check();
      this.#precondition = undefined;
    };
  }

  /** @throws ServiceError archive_unavailable if Postgres is down */
  async query<R extends Row>(text: string, values: readonly unknown[] = []): Promise<R[]> {
    if (this.#precondition) await this.#precondition();
    return this.queryAnySchema(text, values);
  }

  /** Skips the precondition; for the schema check itself. */
  async queryAnySchema<R extends Row>(text: string, values: readonly unknown[] = []): Promise<R[]> {
    try {
      return (await this.#pool.query<R>(limited(STATEMENT_TIMEOUT_MS, text, values))).rows;
    } catch (error) {
      throw translated(error as Error);
    }
  }

  /** Like `query`, with its own time limit.
   *  @throws an error with the code QUERY_CANCELED on timeout */
  async queryWithin<R extends Row>(timeoutMs: number, text: string, values: readonly unknown[] = []): Promise<R[]> {
    return this.transaction(async (client) => {
      const limitMs = Math.max(1, Math.ceil(timeoutMs));
      await client.query(limited(limitMs, "SELECT set_config('statement_timeout', $1, true)", [String(limitMs)]));
      return (await client.query<R>(limited(limitMs, text, values))).rows;
    });
  }

  /** Runs the work in a transaction.
   *  @throws ServiceError archive_unavailable if Postgres is down, or was lost before it confirmed the commit */
  async transaction<T>(work: (client: Client) => Promise<T>): Promise<T> {
    return this.withClient(async (client) => {
      await client.query(limited(STATEMENT_TIMEOUT_MS, 'BEGIN'));
      try {
        const result = await work(client);
        await client.query('COMMIT');
        return result;
      } catch (error) {
        // Postgres rolls back the transaction of a lost connection.
        if (!isConnectionError(error as Error)) await client.query('ROLLBACK').catch(() => {});
        throw error;
      }
    });
  }

  async withClient<T>(work: (client: Client) => Promise<T>): Promise<T> {
    if (this.#precondition) await this.#precondition();
    let client: Client;
    try {
      client = await this.#pool.connect();
    } catch (error) {
      throw translated(error as Error);
    }
    let failure: Error | undefined;
    // Without a listener a lost connection would end the process.
    const onError = (error: Error) => {
      failure = error;
    };
    client.on('error', onError);
    try {
      return await work(client);
    } catch (error) {
      const shown = translated(error as Error);
      if (isArchiveUnavailable(shown)) failure = shown;
      throw shown;
    } finally {
      client.off('error', onError);
      client.release(failure);
    }
  }

  /** Does not wait long for a hung Postgres. */
  async close(): Promise<void> {
    await Promise.race([this.#pool.end(), setTimeout(CLOSE_MS, undefined, { ref: false })]);
  }
}

/** Base of classes that store one kind of data in Postgres: the database and further dependencies. */
export abstract class Repository<Deps = void> {
  protected readonly database: Database;
  protected readonly deps: Deps;

  constructor(database: Database, deps: Deps) {
    this.database = database;
    this.deps = deps;
  }
}

/** A statement that fails if Postgres does not answer within the time. */
export function limited(timeoutMs: number, text: string, values: readonly unknown[] = []): pg.QueryConfig {
  return { text, values: values as unknown[], query_timeout: timeoutMs + RESPONSE_MARGIN_MS } as pg.QueryConfig;
}

/** `sslmode` of the URL decides whether TLS is used; without it, `tlsVerify: false` implies TLS. */
export function connectionOf(url: string, tlsVerify: boolean): pg.ClientConfig {
  const parsed = new URL(url);
  const mode = parsed.searchParams.get('sslmode');
  parsed.searchParams.delete('sslmode');
  const tls = mode === null ? !tlsVerify : mode !== 'disable';
  return { connectionString: parsed.href, ...(tls && { ssl: { rejectUnauthorized: tlsVerify } }) };
}

/** Whether Postgres cancelled a statement that took too long. */
export function isTimeout(error: unknown): boolean {
  return codeOf(error) === QUERY_CANCELED;
}

/** SQLSTATE of an error of Postgres. */
export function codeOf(error: unknown): string | undefined {
  const { code } = ((error as Error).cause ?? error) as { code?: string };
  return typeof code === 'string' ? code : undefined;
}

/** Whether an error of pg means that Postgres is down. */
export function isConnectionError(error: Error): boolean {
  const codes = [(error as { code?: string }).code, codeOf(error)];
  const isKnown = codes.some((code) => code !== undefined && (UNAVAILABLE_STATE.test(code) || SOCKET_ERROR.test(code)));
  return isKnown || UNAVAILABLE_MESSAGE.test(error.message);
}

function translated(error: Error): Error {
  const { code } = error as { code?: string };
  if (!isConnectionError(error)) return error;
  const detail = `Postgres cannot be reached: ${error.message || code}`;
  return new ServiceError('archive_unavailable', { detail, retryAfterSeconds: RETRY_AFTER_SECONDS, cause: error });
}

/** Text of a file in sql/. */
export function sqlFile(name: string): string {
  return readFileSync(join(import.meta.dirname, 'sql', `${name}.sql`), 'utf8');
}

/** A ULID as a UUID with the same 128 bits, in the same order. */
export function toUuid(id: string): string {
  const hex = hexOf(id);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

export function fromUuid(uuid: string): string {
  return idOfHex(uuid.replaceAll('-', ''));
}

/** Like `toUuid`, for several texts. Texts that are not ULIDs are left out, because no object has them as its ID. */
export function toUuids(ids: readonly string[]): string[] {
  return ids.filter((id) => ID_PATTERN.test(id)).map(toUuid);
}

/** Postgres does not support U+0000, and UTF-8 no lone surrogates. For texts by which rows are found; displayed texts come from JSON. */
export function toText(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}
