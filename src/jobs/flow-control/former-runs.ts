/** Finds runs that events of a repeated ingest job already have. */
import type { RunLists } from '../../store/runs/run-lists.ts';
import type { Candidate } from './candidate.ts';

/** @param candidates candidates of one environment
 *  @returns the ID of the existing run of each candidate that has one */
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
