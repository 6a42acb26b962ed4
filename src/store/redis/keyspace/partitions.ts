/** The partition layout as stored in Redis (key `partitionLayout`). Each process reads it first, and follows its changes: it must know a new
 *  version before the version is in force. A version is therefore announced in advance, and a process that cannot read
 *  for most of that time stops working with partitions until it can. */
import { ConfigError } from '../../../config.ts';
import { type LayoutVersion, PartitionLayout } from '../../../model/partitions/layout.ts';
import { PartitionedIds } from '../../../model/partitions/partitioned-ids.ts';
import { Composed } from '../../../model/values/composed.ts';
import { type Redis, type ScriptedRedis, unavailable } from '../connection/connection.ts';
import type { Locks } from '../locks.ts';
import { MOVE_FIELD, readMarker, refusalOf } from './move-marker.ts';
import { SCHEMA_FIELD, type SchemaVersion } from './schema-version.ts';

/** Time between the announcement of a new number of partitions and its start. */
export const ANNOUNCED_MS = 60_000;
const READ_EVERY_MS = 5_000;
const RETRY_MS = 200;
/** Age at which a read layout is stale: shortly before a version announced right after the read could start. */
const OUTDATED_MS = ANNOUNCED_MS - 20_000;
const MIGRATION_LOCK_MS = 60_000;
export const VERSIONS_FIELD = 'versions';

export interface PartitionsOptions {
  redis: Redis;
  /** Key of the layout. */
  key: string;
  /** The number set by the setting; if it exceeds the current number, partitions are added. */
  wanted: number;
  /** Whether the installation is empty. */
  isNew: () => Promise<boolean>;
  schema: SchemaVersion;
  locks: Locks;
  /** In dev mode each process migrates; in production `release` does so before a deploy. */
  dev: boolean;
}

export class Partitions extends Composed<PartitionsOptions> {
  readonly ids = new PartitionedIds();
  #layout: PartitionLayout | undefined;
  #why = 'the service is starting';

  /** @throws ServiceError unavailable until the layout has been read, and while it cannot be */
  get layout(): PartitionLayout {
    if (!this.#layout) throw unavailable(this.#why);
    return this.#layout;
  }

  /** @returns why this Redis must not be used (yet); undefined if it may */
  async refusal(): Promise<ConfigError | undefined> {
    const { redis, key } = this.deps;
    return refusalOf(readMarker(await redis.hget(key, MOVE_FIELD)));
  }

  /** Migrates the data in Redis to this code's version. Does nothing while another process does so.
   *  @returns descriptions of the migrations, for people
   *  @throws SchemaError if the store is newer than this code can read */
  async migrate(): Promise<string[]> {
    const { redis, key, schema, locks } = this.deps;
    let done: string[] = [];
    await locks.withLock('schema', MIGRATION_LOCK_MS, async () => {
      done = await schema.migrate(redis, key);
    });
    return done;
  }

  /** Reads the layout, and raises the number of partitions if the setting asks for more.
   *  @throws ConfigError if this Redis is not in use, or has data of an unknown version */
  async read(): Promise<PartitionLayout> {
    const { redis, key, wanted } = this.deps;
    const [text, marker, schema] = await redis.hmget(key, VERSIONS_FIELD, MOVE_FIELD, SCHEMA_FIELD);
    const moved = refusalOf(readMarker(marker));
    if (moved) throw moved;
    await this.#checkSchema(schema);
    if (text === null || text === undefined) return this.#create();
    const layout = new PartitionLayout(JSON.parse(text) as LayoutVersion[]);
    if (wanted <= layout.count) return this.#use(layout);
    const raised = withVersion(layout.versions, wanted, await this.#now());
    // If another process wrote first, its version stands and is read again.
    await (redis as ScriptedRedis).replaceField(key, VERSIONS_FIELD, text, JSON.stringify(raised));
    const present = (await redis.hget(key, VERSIONS_FIELD)) ?? text;
    return this.#use(new PartitionLayout(JSON.parse(present) as LayoutVersion[]));
  }

  /** Reads the layout now, after each reconnection, and every few seconds. Resolves after the first successful read.
   *  @param onRefused called if this Redis must not, or no longer, be used */
  async follow(onRefused: (error: ConfigError) => void): Promise<void> {
    const { redis } = this.deps;
    const firstRead = Promise.withResolvers<void>();
    let timer: NodeJS.Timeout | undefined;
    let outdated: NodeJS.Timeout | undefined;
    const readAgain = () => {
      clearTimeout(timer);
      this.read().then(
        () => {
          firstRead.resolve();
          clearTimeout(outdated);
          outdated = setTimeout(() => this.#forget('the layout of partitions cannot be read'), OUTDATED_MS).unref();
          plan(READ_EVERY_MS);
        },
        (error) => {
          if (error instanceof ConfigError) {
            this.#forget(error.message);
            onRefused(error);
            return;
          }
          plan(this.#layout ? READ_EVERY_MS : RETRY_MS);
        },
      );
    };
    const plan = (delayMs: number) => {
      clearTimeout(timer);
      if (redis.status === 'end') return;
      timer = setTimeout(readAgain, delayMs);
      timer.unref();
    };
    redis.on('ready', readAgain);
    // The listeners would keep a closed service in memory.
    redis.once('end', () => {
      clearTimeout(timer);
      clearTimeout(outdated);
    });
    readAgain();
    return firstRead.promise;
  }

  /** @throws SchemaError */
  async #checkSchema(stored: string | null | undefined): Promise<void> {
    const { redis, key, schema, dev } = this.deps;
    const refusal = schema.refusal(stored ?? (await this.#initialSchema()));
    if (!refusal) return;
    if (!dev || !refusal.canMigrate) throw refusal;
    await this.migrate();
    if (schema.refusal(await redis.hget(key, SCHEMA_FIELD))) throw unavailable('the data in Redis is being migrated');
  }

  async #initialSchema(): Promise<string> {
    const { redis, key, schema, isNew } = this.deps;
    const initial = schema.initial(await isNew());
    // If Redis rejects the write, a later read stores it.
    await redis.hsetnx(key, SCHEMA_FIELD, initial).catch(() => undefined);
    return initial;
  }

  /** An installation without a layout has one partition with all its data. A new one begins with the setting's number. */
  async #create(): Promise<PartitionLayout> {
    const { redis, key, wanted, isNew } = this.deps;
    if (wanted === 1) return this.#use(new PartitionLayout(ONE));
    const versions = (await isNew()) ? [{ count: wanted, since: 0 }] : withVersion(ONE, wanted, await this.#now());
    await redis.hsetnx(key, VERSIONS_FIELD, JSON.stringify(versions));
    return this.read();
  }

  /** The later of the two clocks, so that no process creates IDs of a version that it does not know yet. */
  async #now(): Promise<number> {
    const [seconds] = await this.deps.redis.time();
    return Math.max(Date.now(), Number(seconds) * 1_000);
  }

  #forget(why: string): void {
    this.#why = why;
    this.#layout = undefined;
  }

  #use(layout: PartitionLayout): PartitionLayout {
    if (this.#layout?.versions.length !== layout.versions.length) {
      this.ids.follow(layout);
      this.#layout = layout;
    }
    return layout;
  }
}

const ONE: readonly LayoutVersion[] = [{ count: 1, since: 0 }];

/** Adds a version that starts after all others. */
export function withVersion(versions: readonly LayoutVersion[], count: number, nowMs: number): LayoutVersion[] {
  const last = versions.at(-1)?.since ?? 0;
  return [...versions, { count, since: Math.max(nowMs, last) + ANNOUNCED_MS }];
}
