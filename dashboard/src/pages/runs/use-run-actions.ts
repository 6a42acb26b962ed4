/** Actions on a run. Each shows a toast with its result and refetches the run. */
import { useQueryClient } from '@tanstack/react-query';
import { callApi } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import type { Run } from '../../api/types.ts';
import { toast } from '../../ui/toast.tsx';

export function useRunActions() {
  const env = useEnv();
  const queries = useQueryClient();

  /** @returns the changed or new run; undefined: it failed, and a toast says why */
  async function act(
    id: string,
    method: 'POST' | 'DELETE',
    suffix: string,
    successMessage: string,
    body?: object,
  ): Promise<Run | undefined> {
    try {
      const { data } = await callApi<Run>(`/v1/runs/${encodeURIComponent(id)}${suffix}`, { method, env, body });
      toast.success(successMessage);
      return data;
    } catch (error) {
      toast.error(error as Error);
      return undefined;
    } finally {
      for (const key of ['run', 'run-reruns']) void queries.invalidateQueries({ queryKey: [key, env] });
    }
  }

  return {
    cancel: (id: string) => act(id, 'DELETE', '', 'Run cancelled'),
    rerun: (id: string) => act(id, 'POST', '/retry', 'Re-run started as a new run'),
    rerunFrom: (id: string, from_step: { step_id: string; input?: unknown[] }) =>
      act(id, 'POST', '/retry', 'Re-run started as a new run', { from_step }),
    resume: (id: string) => act(id, 'POST', '/resume', 'Run resumed'),
    giveUp: (id: string) => act(id, 'POST', '/fail', 'Run failed'),
    retryNow: (id: string) => act(id, 'POST', '/retry-now', 'Next attempt started'),
  };
}
