/** Waits until all earlier writes are on Redis's disk (WAITAOF, Redis 7.2), and, if a replica may take over, until one replica has them.
 *  WAITAOF and WAIT cover the last write of their own connection, and block that connection. The barrier therefore uses its own
 *  connection, and writes a marker there first: the append-only file is one sequence, in which the marker follows every write answered
 *  before; so is the replication stream. Writes during a barrier in flight share the next barrier. */
import type { ChainableCommander } from 'ioredis';
import { ServiceError } from '../../../errors.ts';
import { type Redis, replies, toServiceError, unavailable } from '../connection/connection.ts';
import { infoField } from '../connection/server-info.ts';
import { type DurableServer, historyOf, type Replicated } from './durable-server.ts';

/** With appendfsync everysec a sync starts within a second; the rest of the time covers a busy disk. This must be less
 *  than the command timeout of the connection. */
const SYNC_TIMEOUT_MS = 4_000;
const MARKER_TTL_MS = 60_000;

/** The server that synced, and the markers that it rejected because their hash slots are on other nodes. */
interface Synced {
  identity: string | undefined;
  refused: ReadonlyMap<string, Error>;
}

interface Group {
  /** Markers of the partitions written to. */
  markers: Set<string>;
  synced: Promise<Synced>;
}

export class DiskBarrier {
  readonly #connect: () => Redis;
  readonly #replicated: Replicated | undefined;
  #redis: Redis | undefined;
  #current: Promise<unknown> = Promise.resolve();
  #next: Group | undefined;

  /** @param connect opens the connection on first use
   *  @param replicated undefined for a single server */
  constructor(connect: () => Redis, replicated?: Replicated) {
    this.#connect = connect;
    this.#replicated = replicated;
  }

  /** Resolves when all writes answered so far are on disk.
   *  @param server the server that answered the writes
   *  @param markers one key in the hash slot of each write
   *  @throws ServiceError unavailable: the writes may or may not be on disk */
  async wait({ identity, hasWaitAof }: DurableServer, markers: readonly string[]): Promise<void> {
    const group = this.#next ?? this.#start(hasWaitAof);
    for (const marker of markers) group.markers.add(marker);
    const synced = await group.synced;
    if (synced.identity !== identity) throw unavailable('Redis was replaced before all was on its disk');
    const refused = markers.find((marker) => synced.refused.has(marker));
    if (refused !== undefined) throw failureOf(synced.refused.get(refused));
  }

  close(): void {
    this.#redis?.disconnect();
  }

  #start(hasWaitAof: boolean): Group {
    const markers = new Set<string>();
    const group = { markers, synced: this.#after(this.#current, markers, hasWaitAof) };
    this.#next = group;
    return group;
  }

  async #after(current: Promise<unknown>, markers: Set<string>, hasWaitAof: boolean): Promise<Synced> {
    await current.catch(() => {});
    // From here on, a caller's writes may follow the marker.
    this.#current = (this.#next as Group).synced;
    this.#next = undefined;
    this.#redis ??= this.#connect();
    try {
      return this.#replicated
        ? await syncReplicated(this.#redis, [...markers], { ...this.#replicated, hasWaitAof })
        : await sync(this.#redis, [...markers]);
    } catch (error) {
      throw failureOf(error);
    }
  }
}

/** After any failure, no write is guaranteed. */
function failureOf(error: unknown): ServiceError {
  const translated = toServiceError(error);
  return translated instanceof ServiceError ? translated : unavailable('Redis did not sync its file', error);
}

async function sync(redis: Redis, markers: readonly string[]): Promise<Synced> {
  const pipeline = setAll(redis.pipeline().info('server'), markers);
  const results = replies<unknown>(await pipeline.call('WAITAOF', 1, 0, SYNC_TIMEOUT_MS).exec());
  const [local] = results.at(-1) as [local: number];
  if (!(local >= 1)) throw unavailable(`Redis did not sync its file within ${SYNC_TIMEOUT_MS} ms`);
  return { identity: infoField(results[0] as string, 'run_id'), refused: new Map() };
}

async function syncReplicated(
  redis: Redis,
  markers: readonly string[],
  { replicas, isCluster, hasWaitAof }: Replicated & { hasWaitAof: boolean },
): Promise<Synced> {
  const pipeline = redis.pipeline().info('server', 'replication');
  if (isCluster) pipeline.cluster('INFO');
  const first = isCluster ? 2 : 1;
  setAll(pipeline, markers);
  if (hasWaitAof) pipeline.call('WAITAOF', 1, replicas, SYNC_TIMEOUT_MS);
  // Without WAITAOF, the server syncs before it answers a write, so only replicas are waited for.
  else if (replicas > 0) pipeline.wait(replicas, SYNC_TIMEOUT_MS);
  const results = (await pipeline.exec()) ?? [];
  const refused = new Map<string, Error>();
  for (const [i, marker] of markers.entries()) {
    const [error] = results[first + i] ?? [new Error('no reply')];
    if (error) refused.set(marker, error);
  }
  const others = results.filter((_, i) => i < first || i >= first + markers.length);
  const [info, ...rest] = replies<unknown>(others);
  const done = rest.at(-1);
  if (hasWaitAof && !((done as [local: number])[0] >= 1)) {
    throw unavailable(`Redis did not sync its file within ${SYNC_TIMEOUT_MS} ms`);
  }
  if (Number(hasWaitAof ? (done as number[])[1] : replicas > 0 ? done : 0) < replicas) {
    throw unavailable(`no replica had all within ${SYNC_TIMEOUT_MS} ms`);
  }
  return { identity: historyOf(info as string, isCluster ? (rest[0] as string) : ''), refused };
}

function setAll(pipeline: ChainableCommander, markers: readonly string[]): ChainableCommander {
  for (const marker of markers) pipeline.set(marker, '', 'PX', MARKER_TTL_MS);
  return pipeline;
}
