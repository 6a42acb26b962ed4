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

/** What the function has logged. Its key begins as that of the run: with the run, live updates read it again. */
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
