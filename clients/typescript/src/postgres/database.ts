/** The interface that this package needs of a library for Postgres. Libraries are recognized by their shape (adapters.ts). */

export type Row = Record<string, unknown>;

export interface Queries {
  /** With `$1`, `$2` for the values. Resolves to the rows. */
  query(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

/** A connection outside of the pool, which holds the lock of a relay. */
export interface Session extends Queries {
  close(): Promise<void>;
}

export interface Database extends Queries {
  /** Opens a connection that calls `notified` for each notification of the channel. Absent: the relay polls, and takes no lock. */
  connect?(channel: string, notified: () => void): Promise<Session>;
}

export type Isolation = 'read committed' | 'repeatable read' | 'serializable';

/** SQLSTATE of the error, or of one of its causes; undefined: it has none. */
export function sqlStateOf(error: unknown): string | undefined {
  for (let at = error as ErrorOfLibrary | undefined; at; at = at.cause as ErrorOfLibrary | undefined) {
    // Prisma's code for a conflict of transactions, and its place for the code of a raw query.
    if (at.code === 'P2034') return '40001';
    const state = at.meta?.code ?? at.originalCode ?? at.code;
    if (typeof state === 'string' && /^[0-9A-Z]{5}$/.test(state) && !state.startsWith('P2')) return state;
  }
  return undefined;
}

interface ErrorOfLibrary {
  code?: unknown;
  cause?: unknown;
  originalCode?: unknown;
  meta?: { code?: unknown };
}

const UNDEFINED_TABLE = '42P01';

/** Says how to make the tables, if one is missing. */
export function explained(error: unknown): unknown {
  if (sqlStateOf(error) !== UNDEFINED_TABLE || !/tidegate_(outbox|steps)/.test(textOf(error))) return error;
  const how = 'print the SQL for your migrations with `tidegate outbox migrate --print`';
  return new Error(`A table of Tidegate is missing in the database, or not on the search_path: ${how}`, {
    cause: error,
  });
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause ? `${error.message} ${textOf(error.cause)}` : error.message;
}
