/** Runs that the events of a repeated ingest job have already. */
import type { RunLists } from '../../store/runs/run-lists.ts';
import type { Candidate } from './candidate.ts';

/** @param candidates of one environment
 *  @returns the ID of the run of the candidate's function, for those whose event has one */
export async function formerRuns(
  env: string,
  candidates: readonly Candidate[],
  runLists: Pick<RunLists, 'briefsByEvent'>,
): Promise<Map<Candidate, string>> {
  const repeated = candidates.filter((candidate) => candidate.repeated);
  const runs = await runLists.briefsByEvent(
    env,
    repeated.map(({ event }) => event.internalId),
  );
  return new Map(
    repeated.flatMap((candidate, i) => {
      const run = runs[i]?.find(({ functionId }) => functionId === candidate.fn.id);
      return run ? [[candidate, run.id] as const] : [];
    }),
  );
}
