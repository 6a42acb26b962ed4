/** Which processes are alive: each says so every few seconds. One that has not for a while is gone, however it ended. */
import type { ThrottledApp } from '../../model/capacity/adaptive-limit.ts';
import { type Redis, replies } from '../redis/connection.ts';
import type { Keyspace } from '../redis/keyspace.ts';

export const BEAT_MS = 2_000;
/** One that is silent for so long is gone. */
const SILENT_MS = 10_000;

export const PROCESS_KINDS = ['web', 'worker'] as const;
export type ProcessKind = (typeof PROCESS_KINDS)[number];

export interface ProcessStatus {
  id: string;
  kind: ProcessKind;
  host: string;
  pid: number;
  /** Unix milliseconds. */
  startedAt: number;
  seenAt: number;
  /** Resident. */
  memoryBytes: number;
  /** Of a worker: apps whose calls it slows. */
  slowedApps?: ThrottledApp[];
}

export class Processes {
  readonly #redis: Redis;
  readonly #keys: Keyspace;

  constructor(redis: Redis, keys: Keyspace) {
    this.#redis = redis;
    this.#keys = keys;
  }

  async beat(status: ProcessStatus): Promise<void> {
    const { processes, process } = this.#keys;
    const writing = this.#redis.multi();
    writing.set(process(status.id), JSON.stringify(status), 'PX', SILENT_MS);
    writing.zadd(processes, status.seenAt, status.id);
    writing.zremrangebyscore(processes, '-inf', status.seenAt - SILENT_MS);
    writing.pexpire(processes, SILENT_MS);
    replies(await writing.exec());
  }

  /** Of a process that ends in order: it is gone at once. */
  async leave(id: string): Promise<void> {
    const { processes, process } = this.#keys;
    replies(await this.#redis.multi().del(process(id)).zrem(processes, id).exec());
  }

  /** Web processes first, and then by their start. */
  async alive(): Promise<ProcessStatus[]> {
    const ids = await this.#redis.zrange(this.#keys.processes, 0, '-1');
    if (ids.length === 0) return [];
    const texts = await this.#redis.mget(ids.map((id) => this.#keys.process(id)));
    return texts
      .flatMap((text) => (text === null ? [] : [JSON.parse(text) as ProcessStatus]))
      .sort((a, b) => (a.kind === b.kind ? a.startedAt - b.startedAt : a.kind < b.kind ? -1 : 1));
  }
}
