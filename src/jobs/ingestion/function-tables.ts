/** The functions of each environment, indexed by trigger, in memory. A table is read anew when the version in Redis has moved,
 *  which is asked once a job: a registration that was answered is seen by every event that comes after it. */
import { LRUCache } from 'lru-cache';
import type { AppFunction } from '../../model/apps/app.ts';
import { TriggerTable } from '../../model/events/triggers.ts';
import type { Functions } from '../../store/apps/functions.ts';

const RECENT_MS = 1_000;
/** Environments whose tables are held: branches come and go, and each may have thousands of functions. */
const HELD_MAX = 1_000;

export class FunctionTables {
  readonly #functions: Functions;
  readonly #tables = new LRUCache<string, { version: number; table: TriggerTable; checkedAt: number }>({
    max: HELD_MAX,
  });

  constructor(functions: Functions) {
    this.#functions = functions;
  }

  async of(env: string): Promise<TriggerTable> {
    const held = this.#tables.get(env);
    const checkedAt = Date.now();
    if (held && held.version === (await this.#functions.version(env))) {
      held.checkedAt = checkedAt;
      return held.table;
    }
    const { version, functions } = await this.#functions.all(env);
    const table = new TriggerTable(functions);
    this.#tables.set(env, { version, table, checkedAt });
    return table;
  }

  /** The function as it stood when it was last asked for; undefined: not known here. */
  held(env: string, functionId: string): AppFunction | undefined {
    return this.#tables.get(env)?.table.find(functionId);
  }

  /** The function as it stood at most a second ago: good enough for a run that there is. One that is not found may have been
   *  registered since. */
  async find(env: string, functionId: string): Promise<AppFunction | undefined> {
    const held = this.#tables.get(env);
    const recent = held && Date.now() - held.checkedAt < RECENT_MS ? held.table.find(functionId) : undefined;
    return recent ?? (await this.of(env)).find(functionId);
  }
}
