/** Keys of the replays room. */
import type { KeyDeclaration } from './key-declaration.ts';

/** Of all partitions: a replay goes over events of each. */
export const replayKeys = (prefix: string) => ({
  replays: (env: string) => `${prefix}:replays:${env}`,
  openReplays: (env: string) => `${prefix}:open-replays:${env}`,
  replay: (env: string, id: string) => `${prefix}:replay:${env}:${id}`,
  replayPortion: (env: string, id: string) => `${prefix}:replay-portion:${env}:${id}`,
  replayActiveRuns: (env: string, id: string) => `${prefix}:replay-active-runs:${env}:${id}`,
  replayResults: (env: string, id: string) => `${prefix}:replay-results:${env}:${id}`,
  dueReplays: `${prefix}:due-replays`,
});

export const REPLAY_KEY_DECLARATIONS = {
  replays: {
    pattern: 'replays:<env>',
    type: 'zset',
    owner: 'replays/replays.ts',
    ttl: 'retention, at most 30 days, renewed',
    size: '1,000 entries',
    description: 'Replays by creation (ms).',
  },
  openReplays: {
    pattern: 'open-replays:<env>',
    type: 'set',
    owner: 'replays/replays.ts',
    ttl: 'retention, at most 30 days, renewed',
    size: '10 entries',
    description: 'Replays that may start more runs.',
  },
  replay: {
    pattern: 'replay:<env>:<id>',
    type: 'hash',
    owner: 'replays/replays.ts',
    ttl: 'retention, at most 30 days, renewed',
    size: 'about 30 fields, 20 KB',
    description: 'Replay: `definition` as JSON, status, position, counts.',
  },
  replayPortion: {
    pattern: 'replay-portion:<env>:<id>',
    type: 'hash',
    owner: 'replays/replay-progress.ts',
    ttl: 'retention, at most 30 days, renewed',
    size: '200 fields',
    description: 'Run ID → event ID of runs being started, for a worker that takes over.',
  },
  replayActiveRuns: {
    pattern: 'replay-active-runs:<env>:<id>',
    type: 'set',
    owner: 'replays/replay-progress.ts',
    ttl: 'retention, at most 30 days, renewed',
    size: '50,000 entries',
    description: 'Active runs of the replay.',
  },
  replayResults: {
    pattern: 'replay-results:<env>:<id>',
    type: 'list',
    owner: 'replays/replay-progress.ts',
    ttl: 'retention, at most 30 days, renewed',
    size: '100,000 entries, half of them skipped',
    description: 'Result per event and function, as JSON, in event order.',
  },
  dueReplays: {
    pattern: 'due-replays',
    type: 'zset',
    owner: 'replays/replays.ts',
    ttl: 'none',
    size: '1 entry per unfinished replay',
    description: '`<env>/<ID>` of replays by next step (ms).',
  },
} as const satisfies Record<keyof ReturnType<typeof replayKeys>, KeyDeclaration>;
