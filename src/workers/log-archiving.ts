/** Ships the requests of webhooks and the audit log to the archive every few seconds, apart from events and runs: Redis has room for few of them. */
import { setTimeout } from 'node:timers/promises';
import { isUnavailable } from '../archive/database.ts';
import { type AuditShippingDeps, shipAuditEntries } from '../jobs/archive/audit-entries.ts';
import { shipWebhookRequests, type WebhookRequestShippingDeps } from '../jobs/archive/webhook-requests.ts';
import type { Logger } from '../log.ts';
import type { Locks } from '../store/redis/locks.ts';
import { type PeriodicTask, repeatUntilStopped } from './periodic-task.ts';

const LEASE_MS = 30_000;
const ROUND_MS = 2_000;
const LAST_ROUND_MS = 2_000;

export type LogArchivingDeps = WebhookRequestShippingDeps & AuditShippingDeps & { locks: Locks; log: Logger };

/** @param deps undefined: there is no archive
 *  @param partitions that this worker works on */
export function startLogArchiving(
  deps: LogArchivingDeps | undefined,
  partitions: () => readonly number[],
): PeriodicTask | undefined {
  if (!deps) return undefined;
  const { locks, log, archive } = deps;
  const roundMs = Math.min(ROUND_MS, archive.hotMs / 4);
  const round = async (name: string, ship: () => Promise<number>) => {
    try {
      await locks.withLock(name, LEASE_MS, async () => {
        const shipped = await ship();
        if (shipped > 0) log.debug({ lease: name, shipped }, 'archived');
      });
    } catch (error) {
      const level = isUnavailable(error) ? 'debug' : 'warn';
      log[level]({ lease: name, err: (error as Error).message }, 'could not archive; Redis keeps it');
    }
  };
  const { stop, stopped } = repeatUntilStopped(async () => {
    await Promise.all([
      round('archive-audit', () => shipAuditEntries(deps)),
      ...partitions().map((n) => round(`archive-requests:${n}`, () => shipWebhookRequests(deps, n))),
    ]);
    return roundMs;
  });
  return {
    async close() {
      stop();
      await Promise.race([stopped, setTimeout(LAST_ROUND_MS, undefined, { ref: false })]);
    },
  };
}
