/** The functions of each environment, indexed by trigger, in memory. A table is read anew when the version in Redis has moved,
 *  which is asked once a job: a registration that was answered is seen by every event that comes after it. */
import { TriggerTable } from '../model/triggers.ts';
import type { Functions } from '../store/functions.ts';

export class FunctionTables {
  readonly #functions: Functions;
  readonly #tables = new Map<string, { version: number; table: TriggerTable }>();

  constructor(functions: Functions) {
    this.#functions = functions;
  }

  async of(env: string): Promise<TriggerTable> {
    const held = this.#tables.get(env);
    if (held && held.version === (await this.#functions.version(env))) return held.table;
    const { version, functions } = await this.#functions.all(env);
    const table = new TriggerTable(functions);
    this.#tables.set(env, { version, table });
    return table;
  }
}
