import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useEnv } from '../../api/environment.ts';
import type { Run } from '../../api/types.ts';
import { toast } from '../../ui/toast.tsx';
import { laterRunOf, type RerunRef, runsLikeQuery } from './later-run.ts';
import { RerunAgain } from './rerun-again.tsx';
import { useRunActions } from './use-run-actions.ts';

interface Callbacks {
  /** Receives the new run; undefined: it failed, and a toast says why. */
  onDone(started: Run | undefined): unknown;
  /** Nothing was started. */
  onClose?(): void;
}

/** Re-runs a run; if that was done before, asks once more.
 *  @returns the action, and the dialog to render */
export function useRerun({ onDone, onClose }: Callbacks) {
  const env = useEnv();
  const queries = useQueryClient();
  const { rerun } = useRunActions();
  const [asking, setAsking] = useState<{ run: RerunRef; later: Run }>();
  const start = async ({ run_id }: RerunRef) => onDone(await rerun(run_id));
  const request = async (run: RerunRef) => {
    try {
      // Somebody else may have re-run it since the page was loaded.
      const { data } = await queries.fetchQuery({ ...runsLikeQuery(env, run), staleTime: 0 });
      const later = laterRunOf(run, data);
      if (later) setAsking({ run, later });
      else await start(run);
    } catch (error) {
      toast.error(error as Error);
      onClose?.();
    }
  };
  const close = () => {
    setAsking(undefined);
    onClose?.();
  };
  const confirm = async () => {
    if (asking) await start(asking.run);
    setAsking(undefined);
  };
  const dialog = asking ? <RerunAgain later={asking.later} onClose={close} onRerun={confirm} /> : null;
  return { rerun: request, dialog };
}
