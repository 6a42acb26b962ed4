/** The numbers that stand for texts in the archive: environments, event names, sources and functions. Processes keep them in memory: for a minute,
 *  since the name of events that are gone loses its number (unused-numbers.ts); those of environments not so long that another one of the same name can
 *  be created. */
import { LRUCache } from 'lru-cache';
import { PRODUCTION } from '../model/environment.ts';
import type { Database } from './database.ts';
import { toText } from './encoding.ts';

/** A deleted environment may be created again no sooner than this (jobs/environments/branch-lifecycle.ts). */
const CACHED_MS = 4_000;
const CACHED_MAX = 50_000;
const NUMBER_CACHED_MS = 60_000;

/** Tables of texts, and their columns. */
const COLUMNS = { event_names: 'name', event_sources: 'source', functions: 'function_id' } as const;
export type NumberedTable = keyof typeof COLUMNS;

export class Numbers {
  readonly #database: Database;
  readonly #environments = new LRUCache<string, number>({ max: CACHED_MAX });
  readonly #numbers = new LRUCache<string, number>({ max: CACHED_MAX, ttl: NUMBER_CACHED_MS });

  constructor(database: Database) {
    this.#database = database;
  }

  /** undefined: nothing of the environment is archived. */
  async environment(env: string): Promise<number | undefined> {
    const cached = this.#environments.get(env);
    if (cached !== undefined) return cached;
    const text = 'SELECT id FROM environments WHERE name = $1 AND deleted_at IS NULL';
    const [row] = await this.#database.query<{ id: number }>(text, [toText(env)]);
    if (row) this.#remember(env, row.id);
    return row?.id;
  }

  /** Assigns a number if there is none. */
  async assignEnvironment(env: string): Promise<number> {
    const present = await this.environment(env);
    if (present !== undefined) return present;
    const text = 'INSERT INTO environments (name) VALUES ($1) ON CONFLICT DO NOTHING';
    await this.#database.query(text, [toText(env)]);
    return (await this.environment(env)) as number;
  }

  /** Nothing archived of the environment is found any more. */
  async forgetEnvironment(env: string, nowMs: number): Promise<void> {
    this.#environments.delete(env);
    const text = 'UPDATE environments SET deleted_at = $2 WHERE name = $1 AND deleted_at IS NULL';
    await this.#database.query(text, [toText(env), nowMs]);
  }

  /** All by number, from Postgres. */
  async environments(): Promise<Map<number, { name: string; isDeleted: boolean }>> {
    const rows = await this.#database.query<{ id: number; name: string; deleted: boolean }>(
      'SELECT id, name, deleted_at IS NOT NULL AS deleted FROM environments',
    );
    return new Map(rows.map(({ id, name, deleted }) => [id, { name, isDeleted: deleted }]));
  }

  /** undefined: there is none. */
  async of(table: NumberedTable, envId: number, text: string): Promise<number | undefined> {
    return (await this.ofMany(table, envId, [text])).get(text);
  }

  /** By text; those without a number are absent. */
  async ofMany(table: NumberedTable, envId: number, texts: readonly string[]): Promise<Map<string, number>> {
    const known = new Map<string, number>();
    const unknown: string[] = [];
    for (const text of new Set(texts)) {
      const number = this.#numbers.get(`${table}:${envId}:${text}`);
      if (number === undefined) unknown.push(text);
      else known.set(text, number);
    }
    if (unknown.length === 0) return known;
    const column = COLUMNS[table];
    const rows = await this.#database.query<{ id: number; text: string }>(
      `SELECT id, ${column} AS text FROM ${table} WHERE env_id = $1 AND ${column} = ANY($2)`,
      [envId, unknown.map(toText)],
    );
    const found = new Map(rows.map(({ id, text }) => [text, id]));
    for (const text of unknown) {
      const number = found.get(toText(text));
      if (number === undefined) continue;
      this.#numbers.set(`${table}:${envId}:${text}`, number);
      known.set(text, number);
    }
    return known;
  }

  /** Assigns numbers where there are none. */
  async assign(table: NumberedTable, envId: number, texts: readonly string[]): Promise<Map<string, number>> {
    const known = await this.ofMany(table, envId, texts);
    const missing = [...new Set(texts)].filter((text) => !known.has(text));
    if (missing.length === 0) return known;
    const text = `INSERT INTO ${table} (env_id, ${COLUMNS[table]}) SELECT $1, unnest($2::text[]) ON CONFLICT DO NOTHING`;
    // Sorted: two processes that assign the same texts must not wait for each other.
    await this.#database.query(text, [envId, [...new Set(missing.map(toText))].sort()]);
    return this.ofMany(table, envId, texts);
  }

  /** The texts of numbers. */
  async texts(table: NumberedTable, numbers: readonly number[]): Promise<Map<number, string>> {
    if (numbers.length === 0) return new Map();
    const rows = await this.#database.query<{ id: number; text: string }>(
      `SELECT id, ${COLUMNS[table]} AS text FROM ${table} WHERE id = ANY($1)`,
      [[...new Set(numbers)]],
    );
    return new Map(rows.map(({ id, text }) => [id, text]));
  }

  /** What it remembers may have been removed by another process. */
  forget(): void {
    this.#environments.clear();
    this.#numbers.clear();
  }

  #remember(env: string, number: number): void {
    if (env === PRODUCTION) this.#environments.set(env, number);
    else this.#environments.set(env, number, { ttl: CACHED_MS });
  }
}
