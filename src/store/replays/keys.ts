/** Keys of the replays room. */
import type { KeyDeclaration } from '../redis/key-declaration.ts';

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
    description: 'IDs of replays, by the time of their creation (ms).',
  },
  openReplays: {
    pattern: 'open-replays:<env>',
    type: 'set',
    owner: 'replays/replays.ts',
    ttl: 'retention, at most 30 days, renewed',
    size: '10 entries',
    description: 'IDs of replays that may start more runs.',
  },
  replay: {
    pattern: 'replay:<env>:<id>',
    type: 'hash',
    owner: 'replays/replays.ts',
    ttl: 'retention, at most 30 days, renewed',
    size: 'about 30 fields, 20 KB',
    description: 'A replay: `definition` as JSON, its status, its position and its counts.',
  },
  replayPortion: {
    pattern: 'replay-portion:<env>:<id>',
    type: 'hash',
    owner: 'replays/replay-progress.ts',
    ttl: 'retention, at most 30 days, renewed',
    size: '200 fields, while a portion is being started',
    description:
      'Run ID → event ID of the runs that are being started: what a worker that died in between may have started.',
  },
  replayActiveRuns: {
    pattern: 'replay-active-runs:<env>:<id>',
    type: 'set',
    owner: 'replays/replay-progress.ts',
    ttl: 'retention, at most 30 days, renewed',
    size: '1 entry per active run of the replay, 50,000',
    description: 'IDs of the runs that the replay started and that have not ended.',
  },
  replayResults: {
    pattern: 'replay-results:<env>:<id>',
    type: 'list',
    owner: 'replays/replay-progress.ts',
    ttl: 'retention, at most 30 days, renewed',
    size: '100,000 entries, half of them skipped',
    description: 'What happened for each event and function, as JSON, in the order of the events.',
  },
  dueReplays: {
    pattern: 'due-replays',
    type: 'zset',
    owner: 'replays/replays.ts',
    ttl: 'none',
    size: '1 entry per replay that runs, or whose runs are active',
    description: '`<env>/<ID>` of replays by the time they go on (ms).',
  },
} as const satisfies Record<keyof ReturnType<typeof replayKeys>, KeyDeclaration>;
