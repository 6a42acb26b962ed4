/** Runs the migrations of the archive in dev mode; in production `release` does so before a deploy. Without Postgres everything stays in Redis, and
 *  they run when it is back. */
import { isAway } from '../../archive/database.ts';
import { migrate } from '../../archive/migrate.ts';
import type { ArchiveSettings } from '../../config.ts';
import { duty } from '../../duties/duty.ts';
import type { Logger } from '../../log.ts';

export class Migration {
  readonly #settings: ArchiveSettings | undefined;
  readonly #log: Logger;
  #isDue: boolean;
  /** Whether the log says that they wait. */
  #isTold = false;

  /** @param settings undefined: there is no archive, or none to migrate */
  constructor(settings: ArchiveSettings | undefined, log: Logger) {
    this.#settings = settings;
    this.#log = log;
    this.#isDue = settings !== undefined;
  }

  get isDue(): boolean {
    return this.#isDue;
  }

  /** @throws Error of a migration that fails */
  async run(): Promise<void> {
    if (!this.#settings || !this.#isDue) return;
    try {
      await migrate(this.#settings);
      this.#isDue = false;
    } catch (error) {
      if (!isAway(error as Error)) throw error;
      const level = this.#isTold ? 'debug' : 'warn';
      this.#isTold = true;
      this.#log[level]({ err: (error as Error).message }, 'archive: migrations did not run, because Postgres is away');
    }
  }
}

export const migrating = duty<{ migration: Migration }>({
  name: 'archive-migrations',
  about: 'Dev mode: runs the migrations when Postgres is there',
  scope: 'process',
  everyMs: 2_000,
  lastRoundMs: 2_000,
  isWanted: ({ migration }) => migration.isDue,
  rounds:
    ({ migration }) =>
    () =>
      migration.run(),
});
