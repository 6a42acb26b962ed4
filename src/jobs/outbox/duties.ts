/** The duties of a worker for the outbox of an app's Postgres (setting OUTBOX_DATABASE_URL). */
import type { OutboxRows } from '../../archive/outbox-rows.ts';
import type { OutboxWakes } from '../../archive/outbox-wakes.ts';
import { duty } from '../../duties/duty.ts';
import type { History } from '../../history/history.ts';
import { ID_PATTERN } from '../../model/ids.ts';
import { HOUR_MS } from '../../model/values/time.ts';
import type { Store } from '../../store/store.ts';
import type { OutboxRelay } from './relay.ts';

const POLL_MS = 1_000;
const STATUS_MS = 10_000;
const LEASE_MS = 30_000;
/** Steps of transactions stay at least this long. */
const STEPS_DAYS = 30;
const RUNS_AT_ONCE = 1_000;

export interface OutboxDeps extends Pick<Store, 'outboxStatus'> {
  outboxRows: OutboxRows;
  outboxWakes: OutboxWakes;
  outboxRelay: OutboxRelay;
  outboxEnvironment: string;
  runs: Pick<History['runs'], 'present'>;
}

export const outboxRelaying = duty<OutboxDeps>({
  name: 'outbox',
  about: "Accepts events from the outbox in an app's Postgres",
  scope: 'process',
  everyMs: POLL_MS,
  lastRoundMs: 5_000,
  rounds: ({ outboxWakes, outboxRelay }) => {
    let isFirst = true;
    return async ({ signal }) => {
      if (!isFirst) await outboxWakes.wait(POLL_MS, signal);
      isFirst = false;
      while (!signal.aborted && (await outboxRelay.pass(signal)));
      return 0;
    };
  },
  end: ({ outboxWakes }) => outboxWakes.close(),
});

export const outboxMeasuring = duty<OutboxDeps>({
  name: 'outbox-status',
  about: 'Counts the events in the outbox',
  scope: 'installation',
  everyMs: STATUS_MS,
  leaseMs: LEASE_MS,
  rounds:
    ({ outboxRows, outboxStatus }) =>
    async () => {
      const counts = await outboxRows.counts().catch(async (error: Error) => {
        await outboxStatus.reportFailure(error.message);
        throw error;
      });
      await outboxStatus.report(counts, Date.now());
    },
});

export const outboxStepRemoval = duty<OutboxDeps>({
  name: 'outbox-steps',
  about: 'Removes the results of transactions whose runs are gone',
  scope: 'installation',
  everyMs: HOUR_MS,
  leaseMs: LEASE_MS,
  rounds:
    (deps) =>
    ({ signal }) =>
      removeSteps(deps, signal),
});

/** Removes nothing while it is unknown which runs are stored. */
export async function removeSteps({ outboxRows, outboxEnvironment: env, runs }: OutboxDeps, signal: AbortSignal) {
  for (let after = ''; !signal.aborted; ) {
    const ids = await outboxRows.earlierRuns(STEPS_DAYS, after, RUNS_AT_ONCE);
    const last = ids.at(-1);
    if (last === undefined) return;
    // Only IDs may become parts of keys. What else an app has written is no run.
    const present = await runs.present(
      env,
      ids.filter((id) => ID_PATTERN.test(id)),
    );
    await outboxRows.deleteSteps(
      ids.filter((id) => !present.has(id)),
      STEPS_DAYS,
    );
    after = last;
  }
}
