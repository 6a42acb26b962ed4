/** Decides whether and how events of an outbox are accepted now, by the rules for sent events. */
import type { Config } from '../../config.ts';
import { exceededThresholds, type Load } from '../../model/capacity/thresholds.ts';
import { PRODUCTION } from '../../model/environment.ts';
import type { Redis } from '../../store/redis/connection/connection.ts';
import type { Store } from '../../store/store.ts';
import type { OutboxTerms } from './relay.ts';

const DAY_SECONDS = 86_400;

interface TermsDeps extends Pick<Store, 'environments' | 'installationLimits'> {
  env: string;
  config: Pick<Config, 'thresholds' | 'eventMaxBytes' | 'eventMaxFutureMs'>;
  redis: Pick<Redis, 'status'>;
  load: () => Promise<Load>;
  retentionDays: number;
}

/** @returns a function that throws the reason why no event can be accepted */
export function outboxTerms({ env, config, environments, installationLimits, redis, load, retentionDays }: TermsDeps) {
  return async (): Promise<OutboxTerms> => {
    // Otherwise each try would leave a send in the rows that may or may not have been accepted.
    if (redis.status !== 'ready') throw new Error('the outbox waits: Redis is unavailable');
    const [environment, limits, now] = await Promise.all([
      environments.read(env),
      installationLimits.readLimits(),
      load(),
    ]);
    if (!environment && env !== PRODUCTION) throw new Error(`the outbox waits: there is no environment ${env}`);
    if (environment?.archivedAt !== undefined || environment?.deletingAt !== undefined)
      throw new Error(`the outbox waits: the environment ${env} is archived`);
    const [exceeded] = exceededThresholds(now, config.thresholds, []);
    if (exceeded) throw new Error(`the outbox waits: the service rejects events (${exceeded.resource})`);
    return {
      env,
      eventMaxBytes: environment?.eventMaxBytes ?? limits.eventMaxBytes ?? config.eventMaxBytes,
      eventMaxFutureMs: config.eventMaxFutureMs,
      retentionSeconds: (environment?.retentionDays ?? retentionDays) * DAY_SECONDS,
    };
  };
}
