/** Counts failed and paused runs in error groups (docs/glossary.md). The end of a run, or its pause, stores a mark with
 *  its error group's data; counting removes the mark. If a process dies in between, whoever repeats the end counts the run. */
import { isArchiveUnavailable } from '../../../errors.ts';
import type { History } from '../../../history/history.ts';
import { type FailingStep, failingStepOf } from '../../../model/errors/failing-step.ts';
import { fingerprintOf } from '../../../model/errors/fingerprint.ts';
import { userLabelOf } from '../../../model/events/user-label.ts';
import type { Run } from '../../../model/runs/run.ts';
import type { RunError } from '../../../model/runs/run-error.ts';
import { Composed } from '../../../model/values/composed.ts';
import type { ErrorGroups } from '../../../store/errors/error-groups.ts';
import type { Runs } from '../../../store/runs/runs.ts';

/** Number of history entries read: the failing step is among the last ones. */
const ENTRIES_READ = 20;

export type FailureMark = Required<Pick<Run, 'fingerprint' | 'uncounted'>>;

export class FailureCounter extends Composed<{
  runs: Pick<Runs, 'lastHistory'>;
  errorGroups: Pick<ErrorGroups, 'record'>;
  history: { events: Pick<History['events'], 'envelopes'> };
}> {
  /** The mark that the end of a run with this error stores. */
  async mark(run: Pick<Run, 'env' | 'id' | 'functionId'>, error: RunError): Promise<FailureMark> {
    return (await this.markWithStep(run, error)).mark;
  }

  async markWithStep(
    { env, id, functionId }: Pick<Run, 'env' | 'id' | 'functionId'>,
    error: RunError,
  ): Promise<{ mark: FailureMark; step: FailingStep | undefined }> {
    const step = failingStepOf(await this.deps.runs.lastHistory(env, id, ENTRIES_READ), error);
    const mark = { fingerprint: fingerprintOf(functionId, step?.name, error), uncounted: step?.name ?? '' };
    return { mark, step };
  }

  /** Does nothing if the run was already counted, or neither failed nor is paused. */
  async count(run: Run): Promise<void> {
    const { status, pause, error, fingerprint, uncounted, endedAt = Date.now() } = run;
    if ((status !== 'Failed' && !pause) || !error || fingerprint === undefined || uncounted === undefined) return;
    const user = await this.#userOf(run);
    await this.deps.errorGroups.record(run, { fingerprint, step: uncounted || undefined, error, user }, endedAt);
  }

  /** @returns undefined if the run's event names nobody, or is not available */
  async #userOf({ env, eventId }: Run): Promise<string | undefined> {
    try {
      const event = (await this.deps.history.events.envelopes(env, [eventId])).get(eventId);
      return event && userLabelOf(event.payload);
    } catch (error) {
      if (!isArchiveUnavailable(error)) throw error;
      return undefined;
    }
  }
}
