/** Blocks all reads and writes until the schema has all migrations of this version: a deploy may be ahead of its `release`. */
import { ServiceError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { Repository } from './database.ts';
import { missingMigrations } from './migrate.ts';

/** Minimum interval of checks. */
const AGAIN_MS = 1_000;
const RETRY_AFTER_SECONDS = 5;

export class SchemaCheck extends Repository<{ log: Logger }> {
  #checking: Promise<void> | undefined;
  #behind: { at: number; error: ServiceError } | undefined;

  /** @throws ServiceError archive_unavailable while migrations are missing or Postgres is down */
  pass(): Promise<void> {
    if (this.#behind && performance.now() - this.#behind.at < AGAIN_MS) return Promise.reject(this.#behind.error);
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  async #check(): Promise<void> {
    const missing = await missingMigrations(this.database);
    const wasBehind = this.#behind !== undefined;
    if (missing.length === 0) {
      if (wasBehind) this.deps.log.info('archive: the schema is complete');
      return;
    }
    const detail =
      `the schema "${this.database.schema}" of Postgres is behind this version: run "scripts/start release", which runs the ` +
      `missing migrations (${missing.join(', ')})`;
    const error = new ServiceError('archive_unavailable', { detail, retryAfterSeconds: RETRY_AFTER_SECONDS });
    this.#behind = { at: performance.now(), error };
    if (!wasBehind)
      this.deps.log.error(`archive: ${detail}. Until then nothing is archived, and what is archived cannot be read`);
    throw error;
  }
}
