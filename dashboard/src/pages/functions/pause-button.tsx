import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { callApi } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import type { FunctionSummary } from '../../api/types.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { toast } from '../../ui/toast.tsx';

/** Asks before pausing, because events that arrive meanwhile are skipped. */
export function PauseButton({ fn }: { fn: FunctionSummary }) {
  const env = useEnv();
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  const runAction = async (action: 'pause' | 'resume', successMessage: string) => {
    setBusy(true);
    try {
      await callApi(`/v1/functions/${encodeURIComponent(fn.id)}/${action}`, { method: 'POST', env });
      await queries.invalidateQueries({ queryKey: ['function', env, fn.id] });
      void queries.invalidateQueries({ queryKey: ['functions', env] });
      toast.success(successMessage);
    } catch (error) {
      toast.error(error as Error);
    } finally {
      setBusy(false);
    }
  };
  if (fn.paused_at !== null) {
    return (
      <Button icon="play" busy={busy} onClick={() => void runAction('resume', 'Function resumed')}>
        Resume
      </Button>
    );
  }
  return (
    <ConfirmButton
      variant="secondary"
      icon="pause"
      title={`Pause ${fn.name}?`}
      text="Events that arrive while it is paused do not trigger it, not even later. Runs in progress continue."
      confirmLabel="Pause"
      onConfirm={() => runAction('pause', 'Function paused')}
    >
      Pause
    </ConfirmButton>
  );
}
