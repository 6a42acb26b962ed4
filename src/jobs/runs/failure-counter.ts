/** Counts failed runs in error groups (docs/glossary.md). The end of a run stores a mark with its error group's data; counting removes
 *  the mark. If a process dies in between, whoever repeats the end counts the run. */
import { failingStepOf } from '../../model/errors/failing-step.ts';
import { fingerprintOf } from '../../model/errors/fingerprint.ts';
import type { Run } from '../../model/runs/run.ts';
import type { RunError } from '../../model/runs/run-error.ts';
import type { ErrorGroups } from '../../store/errors/error-groups.ts';
import type { Runs } from '../../store/runs/runs.ts';

/** Number of history entries read: the failing step is among the last ones. */
const ENTRIES_READ = 20;

export class FailureCounter {
  readonly #runs: Pick<Runs, 'lastHistory'>;
  readonly #errorGroups: Pick<ErrorGroups, 'record'>;

  constructor(runs: Pick<Runs, 'lastHistory'>, errorGroups: Pick<ErrorGroups, 'record'>) {
    this.#runs = runs;
    this.#errorGroups = errorGroups;
  }

  /** The mark that the end of a run with this error stores. */
  async mark(
    { env, id, functionId }: Pick<Run, 'env' | 'id' | 'functionId'>,
    error: RunError,
  ): Promise<Required<Pick<Run, 'fingerprint' | 'uncounted'>>> {
    const step = failingStepOf(await this.#runs.lastHistory(env, id, ENTRIES_READ), error)?.name;
    return { fingerprint: fingerprintOf(functionId, step, error), uncounted: step ?? '' };
  }

  /** Does nothing if the run was already counted or did not fail. */
  async count(run: Run): Promise<void> {
    const { status, error, fingerprint, uncounted, endedAt = Date.now() } = run;
    if (status !== 'Failed' || !error || fingerprint === undefined || uncounted === undefined) return;
    await this.#errorGroups.record(run, { fingerprint, step: uncounted || undefined, error }, endedAt);
  }
}
