/** The functions of each environment, indexed by trigger, in memory. A table is read anew when the version in Redis has moved,
 *  which is asked once a job: a registration that was answered is seen by every event that comes after it. */
import { TriggerTable } from '../model/triggers.ts';
import type { Functions } from '../store/functions.ts';

const RECENT_MS = 1_000;

export class FunctionTables {
  readonly #functions: Functions;
  readonly #tables = new Map<string, { version: number; table: TriggerTable; checkedAt: number }>();

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

  /** As it stood at most a second ago: good enough to look a function up for a run that there is. */
  async recent(env: string): Promise<TriggerTable> {
    const held = this.#tables.get(env);
    return held && Date.now() - held.checkedAt < RECENT_MS ? held.table : this.of(env);
  }
}
