/** Replays of past events. */
import type { StoreContext } from '../store-context.ts';
import { ReplayProgress } from './replay-progress.ts';
import { keptMs, Replays } from './replays.ts';

export interface ReplayStore {
  replays: Replays;
  replayProgress: ReplayProgress;
}

export function createReplayStore({ redis, keys, config }: StoreContext): ReplayStore {
  const ttlMs = keptMs(config.retentionMs);
  return { replays: new Replays(redis, keys, ttlMs), replayProgress: new ReplayProgress(redis, keys, ttlMs) };
}
