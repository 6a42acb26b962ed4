import { useQuery } from '@tanstack/react-query';
import { callApi } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import type { FunctionStats } from '../../api/types.ts';
import { DAY_MS } from '../../lib/time-units.ts';

const REFRESH_MS = 30_000;

/** By function ID; functions without runs are missing. undefined: still loading. */
export function useStats(): ReadonlyMap<string, FunctionStats> | undefined {
  const env = useEnv();
  const { data } = useQuery({
    queryKey: ['function-stats', env],
    queryFn: async ({ signal }) => {
      const query = { from: new Date(Date.now() - DAY_MS).toISOString(), fields: 'hours' };
      const { data: all } = await callApi<FunctionStats[]>('/v1/functions/stats', { env, signal, query });
      return new Map(all.map((stats) => [stats.function_id, stats]));
    },
    refetchInterval: REFRESH_MS,
  });
  return data;
}

export function emptyStats(functionId: string): FunctionStats {
  return { function_id: functionId, started: 0, completed: 0, failed: 0, cancelled: 0, last_started_at: null };
}

/** Share of failed runs among completed and failed runs, 0 to 1; undefined: there are none. */
export function failureRate({ completed, failed }: Pick<FunctionStats, 'completed' | 'failed'>): number | undefined {
  const ended = completed + failed;
  return ended === 0 ? undefined : failed / ended;
}
