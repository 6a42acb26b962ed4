/** Numbers that represent texts in the archive: environments, event names, sources and functions. Processes cache them for a minute,
 *  because names without events lose their number (unused-numbers.ts); they cache environments for less time than it takes to create
 *  another one with the same name. */
import { LRUCache } from 'lru-cache';
import { PRODUCTION } from '../model/environment.ts';
import { atMost } from '../model/values/cache-size.ts';
import { Repository, toText } from './database.ts';

/** A deleted environment cannot be created again sooner than this (jobs/environments/branch-lifecycle.ts). */
const CACHED_MS = 4_000;
const CACHED_MAX = 50_000;
const NUMBER_CACHED_MS = 60_000;

/** Tables of texts, and their columns. */
const COLUMNS = { event_names: 'name', event_sources: 'source', functions: 'function_id' } as const;
export type NumberedTable = keyof typeof COLUMNS;

export class Numbers extends Repository {
  readonly #environments = new LRUCache<string, number>(atMost(CACHED_MAX));
  readonly #numbers = new LRUCache<string, number>({ ...atMost(CACHED_MAX), ttl: NUMBER_CACHED_MS });

  /** undefined if nothing of the environment is archived. */
  async environment(env: string): Promise<number | undefined> {
    const cached = this.#environments.get(env);
    if (cached !== undefined) return cached;
    const text = 'SELECT id FROM environments WHERE name = $1 AND deleted_at IS NULL';
    const [row] = await this.database.query<{ id: number }>(text, [toText(env)]);
    if (row) this.#remember(env, row.id);
    return row?.id;
  }

  /** Assigns a number if there is none. */
  async assignEnvironment(env: string): Promise<number> {
    const present = await this.environment(env);
    if (present !== undefined) return present;
    const text = 'INSERT INTO environments (name) VALUES ($1) ON CONFLICT DO NOTHING';
    await this.database.query(text, [toText(env)]);
    return (await this.environment(env)) as number;
  }

  /** Hides everything archived of the environment, and removes its runs that sleep here. */
  async forgetEnvironment(env: string, nowMs: number): Promise<void> {
    this.#environments.delete(env);
    const text = 'UPDATE environments SET deleted_at = $2 WHERE name = $1 AND deleted_at IS NULL';
    await this.database.query(text, [toText(env), nowMs]);
    await this.database.query(
      'DELETE FROM offloaded_runs o USING environments e WHERE e.id = o.env_id AND e.deleted_at IS NOT NULL AND e.name = $1',
      [toText(env)],
    );
  }

  /** All environments by number, from Postgres. */
  async environments(): Promise<Map<number, { name: string; isDeleted: boolean }>> {
    const rows = await this.database.query<{ id: number; name: string; deleted: boolean }>(
      'SELECT id, name, deleted_at IS NOT NULL AS deleted FROM environments',
    );
    return new Map(rows.map(({ id, name, deleted }) => [id, { name, isDeleted: deleted }]));
  }

  /** The number of a text; undefined if it has none. */
  async of(table: NumberedTable, envId: number, text: string): Promise<number | undefined> {
    return (await this.ofMany(table, envId, [text])).get(text);
  }

  /** The result is keyed by text; texts without a number are absent. */
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
    const rows = await this.database.query<{ id: number; text: string }>(
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

  async assign(table: NumberedTable, envId: number, texts: readonly string[]): Promise<Map<string, number>> {
    const known = await this.ofMany(table, envId, texts);
    const missing = [...new Set(texts)].filter((text) => !known.has(text));
    if (missing.length === 0) return known;
    const text = `INSERT INTO ${table} (env_id, ${COLUMNS[table]}) SELECT $1, unnest($2::text[]) ON CONFLICT DO NOTHING`;
    // Sorted, so that two processes that assign the same texts do not deadlock.
    await this.database.query(text, [envId, [...new Set(missing.map(toText))].sort()]);
    return this.ofMany(table, envId, texts);
  }

  async texts(table: NumberedTable, numbers: readonly number[]): Promise<Map<number, string>> {
    if (numbers.length === 0) return new Map();
    const rows = await this.database.query<{ id: number; text: string }>(
      `SELECT id, ${COLUMNS[table]} AS text FROM ${table} WHERE id = ANY($1)`,
      [[...new Set(numbers)]],
    );
    return new Map(rows.map(({ id, text }) => [id, text]));
  }

  /** Clears the cache, which may have numbers that another process has removed. */
  forget(): void {
    this.#environments.clear();
    this.#numbers.clear();
  }

  #remember(env: string, number: number): void {
    if (env === PRODUCTION) this.#environments.set(env, number);
    else this.#environments.set(env, number, { ttl: CACHED_MS });
  }
}
