/** The functions of each environment, indexed by trigger, in memory. A job compares the table's version with Redis once, and reloads it if
 *  it has changed: every event that arrives after a registration was answered sees that registration. */
import { LRUCache } from 'lru-cache';
import type { AppFunction } from '../../model/apps/app.ts';
import { TriggerTable } from '../../model/events/triggers.ts';
import type { Run } from '../../model/runs/run.ts';
import { Composed } from '../../model/values/composed.ts';
import type { Store } from '../../store/store.ts';

/** After this time, every process knows of a change. */
export const RECENT_MS = 1_000;
/** Maximum number of environments in memory: branches come and go, and each may have thousands of functions. */
const TABLES_MAX = 1_000;
/** Maximum number of earlier versions of apps in memory. */
const VERSIONS_MAX = 200;

/** Functions of an environment in memory. */
export interface KnownFunctions {
  version: number;
  table: TriggerTable;
}

export class FunctionTables extends Composed<{
  functions: Store['functions'];
  versions: Pick<Store['appVersions'], 'read'>;
}> {
  readonly #tables = new LRUCache<string, KnownFunctions & { checkedAt: number }>({
    max: TABLES_MAX,
  });

  /** Functions of versions with pinned runs, by environment, app and version; valid as long as the table's version is the same. */
  readonly #ofVersions = new LRUCache<string, { version: number; functions: Map<string, AppFunction> }>({
    max: VERSIONS_MAX,
  });

  async of(env: string): Promise<TriggerTable> {
    const cached = this.#tables.get(env);
    const checkedAt = Date.now();
    if (cached && cached.version === (await this.deps.functions.version(env))) {
      cached.checkedAt = checkedAt;
      return cached.table;
    }
    const { version, functions } = await this.deps.functions.all(env);
    const table = new TriggerTable(functions);
    this.#tables.set(env, { version, table, checkedAt });
    return table;
  }

  /** The functions as of the last read; undefined if they are not in memory. */
  known(env: string): KnownFunctions | undefined {
    return this.#tables.get(env);
  }

  /** Records that Redis has just shown this version to be the current one. */
  confirm(env: string, version: number): void {
    const cached = this.#tables.get(env);
    if (cached?.version === version) cached.checkedAt = Date.now();
  }

  /** The functions, at most a second old. Costs no round trip on a path that every run takes. */
  async recent(env: string): Promise<TriggerTable> {
    const cached = this.#tables.get(env);
    return cached && Date.now() - cached.checkedAt < RECENT_MS ? cached.table : this.of(env);
  }

  /** The function as of the last read of its table; undefined if it is not in memory. */
  cached(env: string, functionId: string): AppFunction | undefined {
    return this.#tables.get(env)?.table.find(functionId);
  }

  /** The function as of at most a second ago, good enough for an existing run. A missing one is looked up again: it may have been
   *  registered since. */
  async find(env: string, functionId: string): Promise<AppFunction | undefined> {
    return (await this.recent(env)).find(functionId) ?? (await this.of(env)).find(functionId);
  }

  /** The function to call for a run, at most a second old. For a pinned run: as its version registered it. */
  async ofRun({ env, functionId, pin }: Pick<Run, 'env' | 'functionId' | 'pin'>): Promise<AppFunction | undefined> {
    const current = await this.find(env, functionId);
    if (!pin || (current?.version === pin.version && current.app === pin.app)) return current;
    const version = this.#tables.get(env)?.version ?? 0;
    const key = JSON.stringify([env, pin.app, pin.version]);
    let cached = this.#ofVersions.get(key);
    if (cached?.version !== version) {
      const stored = await this.deps.versions.read(env, pin);
      const functions = new Map(stored?.functions.map((fn) => [fn.id, { ...fn, version: pin.version }]));
      cached = { version, functions };
      this.#ofVersions.set(key, cached);
    }
    return cached.functions.get(functionId);
  }
}
