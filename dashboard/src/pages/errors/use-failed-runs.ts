import { useQuery } from '@tanstack/react-query';
import { callApi } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import type { ListedRun as ApiListedRun, ErrorGroup, RunWithHistory } from '../../api/types.ts';
import { runsOf } from '../../features/errors/error-group-line.tsx';
import { toListedRun } from '../../features/runs/run.ts';
import { queryOf } from '../../features/runs/use-runs.ts';

/** Number of failed runs that are listed, with their users. */
export const FAILED_RUNS_READ = 20;

/** The last failed runs of the group, with the users of their events. */
export function useFailedRuns(group: ErrorGroup) {
  const env = useEnv();
  return useQuery({
    // Read again when another run fails.
    queryKey: ['errors', env, 'runs', group.fingerprint, group.count],
    queryFn: async ({ signal }) => {
      const query = { ...queryOf(runsOf(group)), fields: 'user', limit: FAILED_RUNS_READ };
      const { data } = await callApi<ApiListedRun[]>('/v1/runs', { env, signal, query });
      return data.map(toListedRun);
    },
    placeholderData: (before) => before,
  });
}

/** The error of a run, with its stack and source. @param id undefined: unknown */
export function useRunError(id: string | undefined) {
  const env = useEnv();
  return useQuery({
    queryKey: ['run-error', env, id],
    queryFn: async ({ signal }) => (await callApi<RunWithHistory>(`/v1/runs/${id}`, { env, signal })).data.error,
    enabled: id !== undefined,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: (before) => before,
  });
}
