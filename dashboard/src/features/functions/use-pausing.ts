import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { callApi } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import type { FunctionSummary } from '../../api/types.ts';
import { toast } from '../../ui/toast.tsx';

export type PausedFunction = Pick<FunctionSummary, 'id' | 'name'>;
/** Choices for runs that have not started. */
export type QueuedRuns = 'run' | 'hold' | 'cancel';

/** Pauses or resumes a function, and says so. */
export function usePausing(fn: PausedFunction) {
  const env = useEnv();
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  const act = async (action: 'pause' | 'resume', successMessage: string, body?: object) => {
    setBusy(true);
    try {
      await callApi(`/v1/functions/${encodeURIComponent(fn.id)}/${action}`, { method: 'POST', env, body });
      await queries.invalidateQueries({ queryKey: ['function', env, fn.id] });
      void queries.invalidateQueries({ queryKey: ['functions', env] });
      toast.success(successMessage);
    } catch (error) {
      toast.error(error as Error);
    } finally {
      setBusy(false);
    }
  };
  return {
    busy,
    pause: (queuedRuns: QueuedRuns) => act('pause', 'Function paused', { queued_runs: queuedRuns }),
    resume: () => act('resume', 'Function resumed'),
  };
}
