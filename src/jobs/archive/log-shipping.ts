/** Shared by the duties that ship logs to the archive. */
import type { Archive } from '../../archive/archive.ts';
import type { DoRound, Round } from '../../duties/duty.ts';
import { isArchiveUnavailable } from '../../errors.ts';
import type { Logger } from '../../log.ts';

export interface LogShippingDeps {
  archive: Pick<Archive, 'hotMs'>;
  log: Logger;
}

export const LOG_SHIPPING = {
  everyMs: {
    of: ({ archive }: LogShippingDeps) => Math.min(2_000, archive.hotMs / 4),
    inWords: '2 s, a quarter of `HOT_HOURS` at most',
  },
  leaseMs: 30_000,
  lastRoundMs: 2_000,
} as const;

/** While Postgres is down, Redis keeps everything, and archive-health.ts reports it.
 *  @param ship returns the number of shipped entries */
export function shippingRounds(
  what: string,
  { log }: LogShippingDeps,
  ship: (round: Round) => Promise<number>,
): DoRound {
  return async (round) => {
    try {
      const shipped = await ship(round);
      if (shipped > 0) log.debug({ partition: round.partition, shipped }, `archived ${what}`);
    } catch (error) {
      if (!isArchiveUnavailable(error)) throw error;
      log.debug({ err: (error as Error).message }, `${what} stay in Redis`);
    }
  };
}
