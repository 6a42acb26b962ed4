/** Schema version of the data in Redis: key names and value formats. A process of an older version refuses a store that it would misread; a
 *  newer one migrates it, or says which command does. Stored in a field of `partitionLayout`, which every process reads first and then
 *  every few seconds. */
import { ConfigError } from '../../../config.ts';
import type { Redis } from '../connection/connection.ts';

export const SCHEMA_FIELD = 'schema';

export interface StoredSchema {
  version: number;
  /** The oldest version whose processes can use this store, and therefore the oldest to which a rollback is possible. */
  oldest: number;
  /** The release that wrote it, for people. */
  release: string;
}

export interface Migration {
  /** Version of the store after the migration. */
  version: number;
  /** The oldest version that can use the store after the migration. If it is the previous release's, processes of both releases run side
   *  by side during a deploy. */
  oldest: number;
  /** Description for people. */
  description: string;
  /** Must tolerate interruption and repetition at any point. */
  run(redis: Redis): Promise<void>;
}

/** In order. Add one whenever a change of keys or values would make older or newer code misread them. */
export const MIGRATIONS: readonly Migration[] = [];

/** Version of stores without a recorded one, and of new stores. */
const FIRST: Pick<StoredSchema, 'version' | 'oldest'> = { version: 1, oldest: 1 };

/** This version of the code cannot use the store. */
export class SchemaError extends ConfigError {
  override name = 'SchemaError';
  /** Whether the store is older, so that a migration fixes it. */
  readonly canMigrate: boolean;

  constructor(message: string, canMigrate: boolean) {
    super(message);
    this.canMigrate = canMigrate;
  }
}

export class SchemaVersion {
  readonly #migrations: readonly Migration[];
  readonly #release: string;

  /** @param release this code's release */
  constructor(release: string, migrations: readonly Migration[] = MIGRATIONS) {
    this.#release = release;
    this.#migrations = migrations;
  }

  /** The version that this code reads and writes. */
  get current(): number {
    return this.#migrations.at(-1)?.version ?? FIRST.version;
  }

  /** @param text the stored field
   *  @returns why this code cannot use the store; undefined if it can */
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

  /** Runs the missing migrations. One process at a time may do so.
   *  @returns descriptions for people
   *  @throws SchemaError if the store is newer than this code can read */
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

  /** Version of a store that records none. */
  initial(isNew: boolean): string {
    const { version, oldest } = (isNew && this.#migrations.at(-1)) || FIRST;
    return JSON.stringify({ version, oldest, release: this.#release } satisfies StoredSchema);
  }
}

function parse(text: string | null | undefined): StoredSchema {
  return text ? (JSON.parse(text) as StoredSchema) : { ...FIRST, release: 'of before versions' };
}
