/** The functions of each environment, indexed by trigger, in memory. A table is read again when its version in Redis
 *  changes, which a job checks once: every event that arrives after a registration was answered sees that
 *  registration. */
import { LRUCache } from 'lru-cache';
import type { AppFunction } from '../../model/apps/app.ts';
import { TriggerTable } from '../../model/events/triggers.ts';
import type { Functions } from '../../store/apps/functions.ts';

/** After so long every process knows of a change. */
export const RECENT_MS = 1_000;
/** Environments whose tables are in memory: branches come and go, and each may have thousands of functions. */
const TABLES_MAX = 1_000;

export class FunctionTables {
  readonly #functions: Functions;
  readonly #tables = new LRUCache<string, { version: number; table: TriggerTable; checkedAt: number }>({
    max: TABLES_MAX,
  });

  constructor(functions: Functions) {
    this.#functions = functions;
  }

  async of(env: string): Promise<TriggerTable> {
    const cached = this.#tables.get(env);
    const checkedAt = Date.now();
    if (cached && cached.version === (await this.#functions.version(env))) {
      cached.checkedAt = checkedAt;
      return cached.table;
    }
    const { version, functions } = await this.#functions.all(env);
    const table = new TriggerTable(functions);
    this.#tables.set(env, { version, table, checkedAt });
    return table;
  }

  /** The functions as they were at most a second ago: free on a path that every run takes. */
  async recent(env: string): Promise<TriggerTable> {
    const cached = this.#tables.get(env);
    return cached && Date.now() - cached.checkedAt < RECENT_MS ? cached.table : this.of(env);
  }

  /** The function as it was when its table was last read; undefined: not in memory. */
  cached(env: string, functionId: string): AppFunction | undefined {
    return this.#tables.get(env)?.table.find(functionId);
  }

  /** The function as it was at most a second ago, which is good enough for an existing run. One that is not found is
   *  looked up again: it may have been registered since. */
  async find(env: string, functionId: string): Promise<AppFunction | undefined> {
    return (await this.recent(env)).find(functionId) ?? (await this.of(env)).find(functionId);
  }
}
