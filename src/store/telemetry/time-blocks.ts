/** Time series in hashes: a hash holds a block of time steps. */
import { floorTo } from '../../model/values/time.ts';
import { inPipelines, type Redis } from '../redis/connection/connection.ts';

export interface Resolution {
  stepMs: number;
  blockMs: number;
}

/** The starts of the blocks that overlap a time range. */
export function startsOf(from: number, to: number, blockMs: number): number[] {
  const starts: number[] = [];
  for (let start = floorTo(from, blockMs); start < to; start += blockMs) starts.push(start);
  return starts;
}

export function readHashes(redis: Redis, keys: readonly string[]): Promise<Record<string, string>[]> {
  return inPipelines(
    redis,
    keys.map((key) => ['hgetall', key]),
  );
}
