/** What may be done with a run. Each tells how it went, and has what it changed read anew. */
import { useQueryClient } from '@tanstack/react-query';
import { callApi } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import type { Run } from '../../api/types.ts';
import { useTell } from '../../ui/toast.tsx';

export function useRunActions() {
  const env = useEnv();
  const tell = useTell();
  const queries = useQueryClient();

  /** @returns what the service made of it; undefined: it refused, and the reader has been told why */
  async function act(id: string, method: 'POST' | 'DELETE', deed: string, done: string): Promise<Run | undefined> {
    try {
      const { data } = await callApi<Run>(`/v1/runs/${encodeURIComponent(id)}${deed}`, { method, env });
      tell.done(done);
      return data;
    } catch (error) {
      tell.failed(error as Error);
      return undefined;
    } finally {
      void queries.invalidateQueries({ queryKey: ['run', env] });
    }
  }

  return {
    cancel: (id: string) => act(id, 'DELETE', '', 'The run is cancelled'),
    retry: (id: string) => act(id, 'POST', '/retry', 'The run is done again, as a new one'),
    retryNow: (id: string) => act(id, 'POST', '/retry-now', 'The next try begins now'),
  };
}
