/** Partition layouts of both sides of a move, and the markers stored with them. */
import { type LayoutVersion, PartitionLayout } from '../../model/partitions/layout.ts';
import { MOVE_FIELD, type MoveMarker, readMarker } from '../redis/keyspace/move-marker.ts';
import { VERSIONS_FIELD, withVersion } from '../redis/keyspace/partitions.ts';
import { SCHEMA_FIELD } from '../redis/keyspace/schema-version.ts';
import type { Store } from '../store.ts';

type Side = 'source' | 'target';

const ONE: readonly LayoutVersion[] = [{ count: 1, since: 0 }];

export class Layouts {
  readonly #stores: Readonly<Record<Side, Store>>;

  constructor(source: Store, target: Store) {
    this.#stores = { source, target };
  }

  async marker(side: Side): Promise<MoveMarker | undefined> {
    const { redis, keys } = this.#stores[side];
    return readMarker(await redis.hget(keys.partitionLayout, MOVE_FIELD));
  }

  async mark(side: Side, marker: MoveMarker): Promise<void> {
    const { redis, keys } = this.#stores[side];
    await redis.hset(keys.partitionLayout, MOVE_FIELD, JSON.stringify(marker));
  }

  async unmark(side: Side): Promise<void> {
    const { redis, keys } = this.#stores[side];
    await redis.hdel(keys.partitionLayout, MOVE_FIELD);
  }

  /** Reads the layout even if it is marked. */
  async versions(side: Side): Promise<readonly LayoutVersion[]> {
    const { redis, keys } = this.#stores[side];
    const text = await redis.hget(keys.partitionLayout, VERSIONS_FIELD);
    return text === null ? ONE : (JSON.parse(text) as LayoutVersion[]);
  }

  /** IDs made on the source keep their partitions. New events are spread over the target's number of partitions. */
  async writeTarget(count: number): Promise<readonly LayoutVersion[]> {
    const { redis, keys } = this.#stores.target;
    const present = await this.versions('source');
    const layout = new PartitionLayout(present);
    const versions = count > layout.count ? withVersion(layout.versions, count, Date.now()) : present;
    await redis.hset(keys.partitionLayout, VERSIONS_FIELD, JSON.stringify(versions));
    const schema = await this.#stores.source.redis.hget(this.#stores.source.keys.partitionLayout, SCHEMA_FIELD);
    if (schema !== null) await redis.hset(keys.partitionLayout, SCHEMA_FIELD, schema);
    return versions;
  }
}
