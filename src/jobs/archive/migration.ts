/** Runs the archive's migrations in dev mode; in production, `release` does so before a deploy. While Postgres is down everything stays
 *  in Redis, and the migrations run when it is back. */
import { isConnectionError } from '../../archive/database.ts';
import { migrate } from '../../archive/migrate.ts';
import type { ArchiveSettings } from '../../config.ts';
import { duty } from '../../duties/duty.ts';
import type { Logger } from '../../log.ts';

export class Migration {
  readonly #settings: ArchiveSettings | undefined;
  readonly #log: Logger;
  #isDue: boolean;
  /** Whether the wait for Postgres has been logged. */
  #isLogged = false;

  /** @param settings undefined without an archive, or if nothing must be migrated */
  constructor(settings: ArchiveSettings | undefined, log: Logger) {
    this.#settings = settings;
    this.#log = log;
    this.#isDue = settings !== undefined;
  }

  get isDue(): boolean {
    return this.#isDue;
  }

  /** @throws Error of a failed migration */
  async run(): Promise<void> {
    if (!this.#settings || !this.#isDue) return;
    try {
      await migrate(this.#settings);
      this.#isDue = false;
    } catch (error) {
      if (!isConnectionError(error as Error)) throw error;
      const level = this.#isLogged ? 'debug' : 'warn';
      this.#isLogged = true;
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
