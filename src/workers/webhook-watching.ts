/** Periodic work of every worker for the issues of webhooks: tells what was not told, and one worker at a time looks for webhooks that are silent. */
import { setTimeout } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { checkSilence, type SilenceCheckDeps } from '../jobs/webhooks/silence-check.ts';
import { tellUntold, type UntoldIssuesDeps } from '../jobs/webhooks/untold-issues.ts';
import type { Locks } from '../store/redis/locks.ts';
import { type PeriodicTask, repeatUntilStopped } from './periodic-task.ts';

const TELL_ROUND_MS = 5_000;
const SILENCE_ROUND_MS = 60_000;
const SILENCE_LEASE_MS = 60_000;
const LOOKED_AT_MAX = 20_000;
const LAST_ROUND_MS = 1_000;

export type WebhookWatchingDeps = SilenceCheckDeps & UntoldIssuesDeps & { locks: Locks };

/** @param partitions that this worker works on */
export function startWebhookWatching(deps: WebhookWatchingDeps, partitions: () => readonly number[]): PeriodicTask {
  const { locks, log } = deps;
  const lookAgain = new LRUCache<string, { lastAt: number; at: number }>({ max: LOOKED_AT_MAX });
  const telling = repeatUntilStopped(async () => {
    await Promise.all(
      partitions().map((partition) =>
        tellUntold(partition, deps, Date.now()).catch((error: Error) =>
          log.warn({ partition, err: error.message }, 'issues of webhooks could not be told'),
        ),
      ),
    );
    return TELL_ROUND_MS;
  });
  const silence = repeatUntilStopped(async () => {
    try {
      await locks.withLock('webhook-silence', SILENCE_LEASE_MS, async () => {
        const { opened, resolved } = await checkSilence(deps, Date.now(), lookAgain);
        if (opened + resolved > 0) log.info({ opened, resolved }, 'webhooks are silent, or no longer');
      });
    } catch (error) {
      log.warn({ err: (error as Error).message }, 'silent webhooks could not be looked for');
    }
    return SILENCE_ROUND_MS;
  });
  return {
    async close() {
      telling.stop();
      silence.stop();
      const ended = Promise.all([telling.stopped, silence.stopped]);
      await Promise.race([ended, setTimeout(LAST_ROUND_MS, undefined, { ref: false })]);
    },
  };
}
