import { useQuery } from '@tanstack/react-query';
import { callApi } from '../../../api/client.ts';
import { useEnv } from '../../../api/environment.ts';
import type { LogLine } from '../../../api/types.ts';

/** The number of lines that the service keeps of a run. */
const MAX_LINES = 1_000;

export interface RunLog {
  lines: LogLine[];
  /** Lines that were left out. */
  dropped: number;
}

/** Lines that the function has logged. The query's key begins like that of the run, so live updates of the run refetch it. */
export function useRunLogs(id: string) {
  const env = useEnv();
  return useQuery({
    queryKey: ['run', env, id, 'logs'],
    queryFn: async ({ signal }): Promise<RunLog> => {
      const path = `/v1/runs/${encodeURIComponent(id)}/logs`;
      const { data, metadata } = await callApi<LogLine[]>(path, { env, signal, query: { limit: MAX_LINES } });
      return { lines: data, dropped: metadata.dropped ?? 0 };
    },
  });
}
