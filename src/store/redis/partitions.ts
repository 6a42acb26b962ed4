/** The layout of partitions, as Redis has it (key `partitionLayout`). Each process reads it before anything else, and follows its changes: it must know a new version before
 *  that is in force. So a version is announced early, and read every few seconds besides. */
import { setPartitionedSince } from '../../model/ids.ts';
import { type LayoutVersion, PartitionLayout } from '../../model/partitions/layout.ts';
import { type Redis, unavailable } from './connection.ts';
import type { ScriptedRedis } from './scripts.ts';

/** From the announcement of a new number of partitions until it is in force. */
export const ANNOUNCED_MS = 60_000;
const READ_EVERY_MS = 5_000;
const RETRY_MS = 200;
const FIELD = 'versions';

export interface PartitionsOptions {
  redis: Redis;
  /** Key of the layout. */
  key: string;
  /** Of the setting; more than there are raises the number. */
  wanted: number;
  /** Whether the installation has nothing yet. */
  isNew: () => Promise<boolean>;
}

export class Partitions {
  readonly #options: PartitionsOptions;
  #layout: PartitionLayout | undefined;

  constructor(options: PartitionsOptions) {
    this.#options = options;
  }

  /** @throws ServiceError unavailable until it has been read */
  get layout(): PartitionLayout {
    if (!this.#layout) throw unavailable('the service is starting');
    return this.#layout;
  }

  /** Reads the layout, and raises the number of partitions if the setting asks for more. */
  async read(nowMs = Date.now()): Promise<PartitionLayout> {
    const { redis, key, wanted } = this.#options;
    const text = await redis.hget(key, FIELD);
    if (text === null) return this.#create(nowMs);
    const layout = new PartitionLayout(JSON.parse(text) as LayoutVersion[]);
    if (wanted <= layout.count) return this.#use(layout);
    const raised = [...layout.versions, { count: wanted, since: nowMs + ANNOUNCED_MS }];
    // What another process has written in the meantime stands, and is read again.
    await (redis as ScriptedRedis).replaceField(key, FIELD, text, JSON.stringify(raised));
    const present = (await redis.hget(key, FIELD)) ?? text;
    return this.#use(new PartitionLayout(JSON.parse(present) as LayoutVersion[]));
  }

  /** Reads it now, whenever the connection is ready, and every few seconds. Resolves after the first successful read. */
  async follow(): Promise<void> {
    const { redis } = this.#options;
    const firstRead = Promise.withResolvers<void>();
    let timer: NodeJS.Timeout | undefined;
    const readAgain = () => {
      clearTimeout(timer);
      this.read().then(
        () => {
          firstRead.resolve();
          plan(READ_EVERY_MS);
        },
        () => plan(this.#layout ? READ_EVERY_MS : RETRY_MS),
      );
    };
    const plan = (delayMs: number) => {
      clearTimeout(timer);
      if (redis.status === 'end') return;
      timer = setTimeout(readAgain, delayMs);
      timer.unref();
    };
    redis.on('ready', readAgain);
    readAgain();
    return firstRead.promise;
  }

  /** An installation without a layout has one partition, in which everything is that it has. A new one begins with the number of the setting. */
  async #create(nowMs: number): Promise<PartitionLayout> {
    const { redis, key, wanted, isNew } = this.#options;
    if (wanted === 1) return this.#use(new PartitionLayout([{ count: 1, since: 0 }]));
    const versions = (await isNew())
      ? [{ count: wanted, since: 0 }]
      : [
          { count: 1, since: 0 },
          { count: wanted, since: nowMs + ANNOUNCED_MS },
        ];
    await redis.hsetnx(key, FIELD, JSON.stringify(versions));
    return this.read(nowMs);
  }

  #use(layout: PartitionLayout): PartitionLayout {
    if (this.#layout?.versions.length !== layout.versions.length) {
      setPartitionedSince(layout.partitionedSince);
      this.#layout = layout;
    }
    return layout;
  }
}
