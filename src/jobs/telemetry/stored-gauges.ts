/** What Redis has to say to whoever asks a process for its metrics. */
import { setTimeout } from 'node:timers/promises';
import type { StoredGauges } from '../../metrics/gauges.ts';
import { readServerInfo } from '../../store/redis/server-info.ts';
import type { Store } from '../../store/store.ts';
import { queueStatus } from '../queues/queue-status.ts';
import type { IngestQueue, RunQueue } from '../queues/queues.ts';

/** So long what was read is told again: however many ask, Redis is asked once. */
const FRESH_MS = 1_000;
/** Longest that somebody waits for Redis. */
const PATIENCE_MS = 1_000;

type Read = () => Promise<StoredGauges | undefined>;

/** @returns what reads it; undefined: Redis is away, or silent */
export function storedGauges(store: Store, queues: readonly (IngestQueue | RunQueue)[]): Read {
  let last: { at: number; status: Promise<StoredGauges | undefined> } | undefined;
  let reading = false;

  return () => {
    // Commands would gather until it is back.
    if (store.redis.status !== 'ready') return Promise.resolve(undefined);
    const nowMs = performance.now();
    if (!last || (!reading && nowMs - last.at >= FRESH_MS)) last = { at: nowMs, status: begin() };
    return Promise.race([last.status, setTimeout(PATIENCE_MS, undefined, { ref: false })]);
  };

  async function begin(): Promise<StoredGauges | undefined> {
    reading = true;
    try {
      return await read(store, queues, Date.now());
    } catch {
      return undefined;
    } finally {
      reading = false;
    }
  }
}

async function read(
  { redis, activeRuns, processes }: Store,
  queues: readonly (IngestQueue | RunQueue)[],
  nowMs: number,
): Promise<StoredGauges> {
  const [{ usedMemoryBytes, maxMemoryBytes }, active, alive, statuses] = await Promise.all([
    readServerInfo(redis),
    activeRuns.count(),
    processes.alive(),
    Promise.all(queues.map((queue) => queueStatus(queue, nowMs))),
  ]);
  const count = (kind: string) => alive.filter((process) => process.kind === kind).length;
  return {
    queues: statuses.map(({ oldestWaitingAt = nowMs, ...status }, i) => {
      return { name: (queues[i] as IngestQueue).name, ...status, backlogAgeMs: Math.max(0, nowMs - oldestWaitingAt) };
    }),
    activeRuns: active,
    processes: { web: count('web'), worker: count('worker') },
    usedMemoryBytes,
    maxMemoryBytes,
  };
}
