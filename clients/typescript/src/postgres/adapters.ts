/** The libraries that people have for Postgres, recognized by their shape: this package imports none of them. */
// biome-ignore-all lint/suspicious/noExplicitAny: each library has types of its own
import type { Database, Isolation, Queries, Row, Session } from './database.ts';

interface Adapter {
  name: string;
  recognizes(handle: any): boolean;
  /** Whether the handle is a transaction, not what begins one. pg's client cannot tell. */
  isTransaction(handle: any): boolean;
  query(handle: any, text: string, values: readonly unknown[]): Promise<Row[]>;
  /** Runs the function in a transaction of the library, which it gets. */
  transact<T>(handle: any, isolation: Isolation | undefined, run: (tx: any) => Promise<T>): Promise<T>;
  /** The same around `first` and the last statement, with fewer round trips to the database. */
  transactAround?<T>(
    handle: any,
    isolation: Isolation | undefined,
    first: Statement,
    run: (tx: any, rows: Row[]) => Promise<Outcome<T>>,
  ): Promise<T>;
  connect?(handle: any): Database['connect'] | false;
}

export interface Statement {
  text: string;
  values: readonly string[];
}

export interface Outcome<T> {
  result: T;
  /** Runs before the commit. */
  last?: Statement;
}

const has = (handle: any, ...names: string[]) => names.every((name) => typeof handle?.[name] === 'function');

/** As Drizzle, Knex and Kysely name it; Prisma: `RepeatableRead`. */
const inPascalCase = (isolation: Isolation) =>
  isolation.replaceAll(/(^|\s)([a-z])/g, (_, _space, letter: string) => letter.toUpperCase());

const prisma: Adapter = {
  name: 'Prisma',
  recognizes: (handle) => has(handle, '$queryRawUnsafe'),
  isTransaction: (handle) => !has(handle, '$transaction'),
  query: (handle, text, values) => handle.$queryRawUnsafe(text, ...values),
  transact: (handle, isolation, run) =>
    handle.$transaction(run, isolation && { isolationLevel: inPascalCase(isolation) }),
};

const kysely: Adapter = {
  name: 'Kysely',
  recognizes: (handle) => has(handle, 'executeQuery', 'selectFrom'),
  isTransaction: (handle) => handle.isTransaction,
  async query(handle, text, values) {
    const query = { kind: 'RawNode', sqlFragments: [text], parameters: [] };
    const { rows } = await handle.executeQuery({
      query,
      sql: text,
      parameters: values,
      queryId: { queryId: 'tidegate' },
    });
    return rows;
  },
  transact(handle, isolation, run) {
    const begin = handle.transaction();
    return (isolation ? begin.setIsolationLevel(isolation) : begin).execute(run);
  },
};

const postgresJs: Adapter = {
  name: 'postgres.js',
  recognizes: (handle) => typeof handle === 'function' && has(handle, 'unsafe'),
  isTransaction: (handle) => has(handle, 'savepoint'),
  query: async (handle, text, values) => [...(await handle.unsafe(text, values))],
  transact: (handle, isolation, run) =>
    isolation ? handle.begin(`isolation level ${isolation}`, run) : handle.begin(run),
  connect: (handle) =>
    // A pool of one connection has none left for the lock.
    handle.options?.max > 1 &&
    (async (channel, notified): Promise<Session> => {
      const { unlisten } = await handle.listen(channel, notified);
      const reserved = await handle.reserve();
      return {
        query: (text, values = []) => postgresJs.query(reserved, text, values),
        async close() {
          await reserved.unsafe('select pg_advisory_unlock_all()').catch(() => {});
          reserved.release();
          await unlisten();
        },
      };
    }),
};

const knex: Adapter = {
  name: 'Knex',
  recognizes: (handle) => typeof handle === 'function' && has(handle, 'raw'),
  isTransaction: (handle) => handle.isTransaction === true,
  async query(handle, text, values) {
    const ordered: unknown[] = [];
    const withMarks = text.replaceAll(/\$(\d+)/g, (_, number: string) => {
      ordered.push(values[Number(number) - 1]);
      return '?';
    });
    return (await handle.raw(withMarks, ordered)).rows;
  },
  transact: (handle, isolation, run) => handle.transaction(run, isolation && { isolationLevel: isolation }),
  connect: (handle) => async (channel, notified) => {
    const client = await handle.client.acquireRawConnection();
    return sessionOf(client, channel, notified);
  },
};

const drizzle: Adapter = {
  name: 'Drizzle',
  recognizes: (handle) => has(handle, 'execute', 'transaction'),
  isTransaction: (handle) => has(handle, 'rollback'),
  async query(handle, text, values) {
    // Drizzle's own `sql` gives the same: an object that becomes text and parameters.
    const query = { getSQL: () => query, toQuery: () => ({ sql: text, params: values }) };
    const result = await handle.execute(query);
    return [...(result.rows ?? result)];
  },
  transact: (handle, isolation, run) => handle.transaction(run, isolation && { isolationLevel: isolation }),
  connect: (handle) => handle.$client && adapterOf(handle.$client).connect?.(handle.$client),
};

const pg: Adapter = {
  name: 'pg',
  recognizes: (handle) => has(handle, 'query'),
  isTransaction: (handle) => !isPgPool(handle),
  query: async (handle, text, values) => (await handle.query(text, values)).rows,
  transact: (pool, isolation, run) =>
    onPgClient(pool, async (client) => {
      await client.query(beginOf(isolation));
      const result = await run(client);
      await client.query('commit');
      return result;
    }),
  transactAround: (pool, isolation, first, run) =>
    onPgClient(pool, async (client) => {
      const results = await client.query(`${beginOf(isolation)}; ${inlined(client, first)}`);
      const { result, last } = await run(client, results.at(-1).rows);
      await client.query(last ? `${inlined(client, last)}; commit` : 'commit');
      return result;
    }),
  connect: (pool) =>
    isPgPool(pool) && pool.Client
      ? async (channel, notified) => {
          const client = new pool.Client(pool.options);
          await client.connect();
          return sessionOf(client, channel, notified);
        }
      : undefined,
};

const beginOf = (isolation: Isolation | undefined) => (isolation ? `begin isolation level ${isolation}` : 'begin');

/** pg runs several statements at once only without parameters. */
function inlined(client: any, { text, values }: Statement): string {
  return text.replaceAll(/\$(\d+)/g, (_, number: string) => client.escapeLiteral(values[Number(number) - 1]));
}

/** Rolls back if the work fails. */
async function onPgClient<T>(pool: any, work: (client: any) => Promise<T>): Promise<T> {
  if (!isPgPool(pool)) throw new TypeError('A transaction begins on a Pool of pg, not on one of its clients');
  const client = await pool.connect();
  // Without a listener, a connection that breaks would end the process.
  const ignore = () => {};
  client.on('error', ignore);
  let broken: unknown;
  try {
    return await work(client);
  } catch (error) {
    await client.query('rollback').catch((failure: unknown) => {
      broken = failure;
    });
    throw error;
  } finally {
    client.off('error', ignore);
    client.release(broken);
  }
}

function isPgPool(handle: any): boolean {
  return has(handle, 'connect') && typeof handle.totalCount === 'number';
}

/** @param client of pg, connected */
async function sessionOf(client: any, channel: string, notified: () => void): Promise<Session> {
  // A lost connection shows at its next query.
  client.on('error', () => {}).on('notification', notified);
  await client.query(`listen ${channel}`);
  return {
    query: async (text, values = []) => (await client.query(text, values)).rows,
    close: () => client.end(),
  };
}

/** Drizzle also has `query`, Knex and postgres.js are functions, Prisma and Kysely have what no other has. */
const ADAPTERS = [prisma, kysely, postgresJs, knex, drizzle, pg];

/** @throws TypeError if it is of none of the libraries */
function adapterOf(handle: unknown): Adapter {
  const adapter = ADAPTERS.find((one) => one.recognizes(handle));
  if (adapter) return adapter;
  throw new TypeError(
    `Expected a pool or transaction of ${ADAPTERS.map(({ name }) => name).join(', ')}; got ${typeof handle}`,
  );
}

/** The transaction of an app.
 *  @throws TypeError if it is none: what is written there would be there even if the app rolls back */
export function queriesWithin(tx: unknown): Queries {
  const adapter = adapterOf(tx);
  if (adapter.isTransaction(tx)) return queriesOn(tx, adapter);
  throw new TypeError(
    `Expected the transaction that writes to the app's own tables; got what begins one, of ${adapter.name}`,
  );
}

/** Runs `first` and then the function in a transaction of the pool. It gets the library's own transaction, and the rows of `first`. */
export function transact<T>(
  pool: unknown,
  isolation: Isolation | undefined,
  first: Statement,
  run: (tx: unknown, queries: Queries, rows: Row[]) => Promise<Outcome<T>>,
): Promise<T> {
  const adapter = adapterOf(pool);
  if (adapter.transactAround) {
    return adapter.transactAround(pool, isolation, first, (tx, rows) => run(tx, queriesOn(tx, adapter), rows));
  }
  return adapter.transact(pool, isolation, async (tx) => {
    const queries = queriesOn(tx, adapter);
    const { result, last } = await run(tx, queries, await queries.query(first.text, first.values));
    if (last) await queries.query(last.text, last.values);
    return result;
  });
}

/** @param pool of a library; or a Database */
export function databaseOf(pool: unknown): Database {
  const adapter = adapterOf(pool);
  const connect = adapter.connect?.(pool) || undefined;
  return { ...queriesOn(pool, adapter), ...(connect && { connect }) };
}

function queriesOn(handle: unknown, adapter: Adapter): Queries {
  return { query: (text, values = []) => adapter.query(handle, text, values) };
}
