/** The version of what Redis has: how keys are named and values written. A process of an older version refuses a store that it would misread; a
 *  newer one migrates it, or says what does. Stored in a field of `partitionLayout`, which every process reads first and then every few seconds. */
import { ConfigError } from '../../config.ts';
import type { Redis } from './connection.ts';

export const SCHEMA_FIELD = 'schema';

export interface StoredSchema {
  version: number;
  /** The oldest version whose processes can work with this store: what a roll-back can go to. */
  oldest: number;
  /** Release that wrote it, for people. */
  release: string;
}

export interface Migration {
  /** The version that the store then has. */
  version: number;
  /** The oldest version whose processes can work with the store then. While it is that of the release before, processes of both run side by
   *  side during a deploy. */
  oldest: number;
  /** What it does, for people. */
  description: string;
  /** May be interrupted, and repeated, at any point. */
  run(redis: Redis): Promise<void>;
}

/** In their order. Add one whenever keys or values change so that code from before, or code that comes, would misread them. */
export const MIGRATIONS: readonly Migration[] = [];

/** What a store has that is older than versions, and a new one begins with. */
const FIRST: Pick<StoredSchema, 'version' | 'oldest'> = { version: 1, oldest: 1 };

/** This version of the code cannot work with the store. */
export class SchemaError extends ConfigError {
  override name = 'SchemaError';
  /** Whether the store is older, so that a migration mends it. */
  readonly canMigrate: boolean;

  constructor(message: string, canMigrate: boolean) {
    super(message);
    this.canMigrate = canMigrate;
  }
}

export class SchemaVersion {
  readonly #migrations: readonly Migration[];
  readonly #release: string;

  /** @param release of this code */
  constructor(release: string, migrations: readonly Migration[] = MIGRATIONS) {
    this.#release = release;
    this.#migrations = migrations;
  }

  /** What this code reads and writes. */
  get current(): number {
    return this.#migrations.at(-1)?.version ?? FIRST.version;
  }

  /** @param text the stored field
   *  @returns why this code cannot work with the store; undefined: it can */
  refusal(text: string | null | undefined): SchemaError | undefined {
    const stored = parse(text);
    if (stored.oldest > this.current) {
      return new SchemaError(
        `Redis has data of schema version ${stored.version}, written by Tidegate ${stored.release}, which Tidegate ${this.#release} cannot read: ` +
          `it knows version ${this.current}. Start Tidegate ${stored.release} or newer, or restore a backup from before its first start`,
        false,
      );
    }
    if (stored.version < this.current) {
      return new SchemaError(
        `Redis has data of schema version ${stored.version}, and Tidegate ${this.#release} needs version ${this.current}. Run \`scripts/start release\`, which migrates it`,
        true,
      );
    }
    return undefined;
  }

  /** Runs what is missing. One process at a time may do so.
   *  @returns what was done, for people
   *  @throws SchemaError when the store is newer than the code can read */
  async migrate(redis: Redis, key: string): Promise<string[]> {
    const stored = parse(await redis.hget(key, SCHEMA_FIELD));
    if (stored.oldest > this.current) throw this.refusal(JSON.stringify(stored));
    const done: string[] = [];
    for (const { version, oldest, description, run } of this.#migrations) {
      if (version <= stored.version) continue;
      await run(redis);
      const reached: StoredSchema = { version, oldest, release: this.#release };
      await redis.hset(key, SCHEMA_FIELD, JSON.stringify(reached));
      done.push(`${version}: ${description}`);
    }
    return done;
  }

  /** The version of a store that records none. */
  initial(isNew: boolean): string {
    const { version, oldest } = (isNew && this.#migrations.at(-1)) || FIRST;
    return JSON.stringify({ version, oldest, release: this.#release } satisfies StoredSchema);
  }
}

function parse(text: string | null | undefined): StoredSchema {
  return text ? (JSON.parse(text) as StoredSchema) : { ...FIRST, release: 'of before versions' };
}
