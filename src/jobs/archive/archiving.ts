/** The duty of the archiver. */
import { type DoRound, duty } from '../../duties/duty.ts';
import { isArchiveUnavailable } from '../../errors.ts';
import type { Logger } from '../../log.ts';
import type { ArchiveState } from './archive-state.ts';
import type { Archiver } from './archiver.ts';

const ROUND_MS = 5_000;
const AGAIN_MS = 10;
/** Interval of attempts while Postgres is down. */
const UNAVAILABLE_RETRY_MS = 2_000;

export interface ArchivingDeps {
  archiver: Archiver;
  archiveState: ArchiveState;
  log: Logger;
  /** Age at which data is archived. */
  hotMs: number;
  /** After this time, jobs of dead workers have been taken over and have ended: data that a job still works on must not be archived. */
  takenOverMs: number;
}

export const archiving = duty<ArchivingDeps>({
  name: 'archive',
  about: 'Moves events and runs that are older than `HOT_HOURS` to Postgres',
  scope: 'partition',
  // More often if HOT_HOURS is short, as dev mode permits.
  everyMs: { of: ({ hotMs }) => Math.min(ROUND_MS, hotMs / 4), inWords: '5 s, a quarter of `HOT_HOURS` at most' },
  firstAfterMs: ({ hotMs, takenOverMs }) => Math.min(takenOverMs, hotMs),
  leaseMs: 30_000,
  lastRoundMs: 2_000,
  rounds,
  end: ({ archiveState }) => archiveState.close(),
});

function rounds({ archiver, archiveState, log }: ArchivingDeps): DoRound {
  return async ({ partition, signal }) => {
    try {
      const { events, runs, more, oldest } = await archiver.round(partition, signal);
      if (events + runs > 0) log.debug({ partition, events, runs }, 'archived');
      archiveState.setOldestUnarchived(partition, oldest);
      return more ? AGAIN_MS : undefined;
    } catch (error) {
      archiveState.recordFailure(error as Error);
      await archiver.oldest(partition).then(
        (oldest) => archiveState.setOldestUnarchived(partition, oldest),
        (failed: Error) => log.debug({ partition, err: failed.message }, 'what waits for the archive is unknown'),
      );
      return isArchiveUnavailable(error) ? UNAVAILABLE_RETRY_MS : undefined;
    }
  };
}
