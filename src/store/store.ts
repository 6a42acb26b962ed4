/** Everything that is kept, behind one connection. */
import type { Config } from '../config.ts';
import { ActiveRuns } from './active-runs.ts';
import { Changes } from './changes.ts';
import { Dedup } from './dedup.ts';
import { Environments } from './environments.ts';
import { Events } from './events.ts';
import { Functions } from './functions.ts';
import { keyspace } from './keyspace.ts';
import type { Redis } from './redis.ts';
import { Runs } from './runs.ts';
import { Steps } from './steps.ts';
import { Waits } from './waits.ts';
import { Webhooks } from './webhooks.ts';

export interface Store {
  redis: Redis;
  /** First part of BullMQ's keys. */
  queuePrefix: string;
  changes: Changes;
  environments: Environments;
  dedup: Dedup;
  events: Events;
  functions: Functions;
  runs: Runs;
  activeRuns: ActiveRuns;
  steps: Steps;
  waits: Waits;
  webhooks: Webhooks;
}

export function createStore(redis: Redis, { keyPrefix, retentionMs }: Config): Store {
  const keys = keyspace(keyPrefix);
  const changes = new Changes(redis, keys);
  return {
    redis,
    queuePrefix: keys.queues,
    changes,
    environments: new Environments(redis, keys, changes),
    dedup: new Dedup(redis, keys),
    events: new Events(redis, keys, retentionMs),
    functions: new Functions(redis, keys),
    runs: new Runs(redis, keys, retentionMs),
    activeRuns: new ActiveRuns(redis, keys),
    steps: new Steps(redis, keys),
    waits: new Waits(redis, keys),
    webhooks: new Webhooks(redis, keys, changes),
  };
}
