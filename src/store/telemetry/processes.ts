/** Running processes. Each sends a heartbeat every two seconds; a process without one for ten seconds is gone. */
import type { ThrottledApp } from '../../model/capacity/adaptive-limit.ts';
import { replies } from '../redis/connection/connection.ts';
import { Repository } from '../redis/repository.ts';

export const HEARTBEAT_MS = 2_000;
/** A process without a heartbeat for this long is gone. */
const TIMEOUT_MS = 10_000;

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
  /** Resident memory. */
  memoryBytes: number;
  /** For a worker: apps that it throttles. */
  slowedApps?: ThrottledApp[];
  /** For a worker: maximum number of concurrent calls. */
  runConcurrency?: number;
}

export class Processes extends Repository {
  async beat(status: ProcessStatus): Promise<void> {
    const { processes, process } = this.keys;
    const writing = this.redis.multi();
    writing.set(process(status.id), JSON.stringify(status), 'PX', TIMEOUT_MS);
    writing.zadd(processes, status.seenAt, status.id);
    writing.zremrangebyscore(processes, '-inf', status.seenAt - TIMEOUT_MS);
    writing.pexpire(processes, TIMEOUT_MS);
    replies(await writing.exec());
  }

  /** Removes a process that shuts down cleanly. */
  async leave(id: string): Promise<void> {
    const { processes, process } = this.keys;
    replies(await this.redis.multi().del(process(id)).zrem(processes, id).exec());
  }

  /** Web processes first, then by start time. */
  async alive(): Promise<ProcessStatus[]> {
    const ids = await this.redis.zrange(this.keys.processes, 0, '-1');
    if (ids.length === 0) return [];
    const texts = await this.redis.mget(ids.map((id) => this.keys.process(id)));
    return texts
      .flatMap((text) => (text === null ? [] : [JSON.parse(text) as ProcessStatus]))
      .sort((a, b) => (a.kind === b.kind ? a.startedAt - b.startedAt : a.kind < b.kind ? -1 : 1));
  }
}
