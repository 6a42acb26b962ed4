import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { callApi } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import type { FunctionSummary } from '../../api/types.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { useTell } from '../../ui/toast.tsx';

/** Pausing asks first: what comes meanwhile is not made up for. */
export function PauseButton({ fn }: { fn: FunctionSummary }) {
  const env = useEnv();
  const queries = useQueryClient();
  const tell = useTell();
  const [busy, setBusy] = useState(false);
  const turn = async (deed: 'pause' | 'resume', done: string) => {
    setBusy(true);
    try {
      await callApi(`/v1/functions/${encodeURIComponent(fn.id)}/${deed}`, { method: 'POST', env });
      await queries.invalidateQueries({ queryKey: ['function', env, fn.id] });
      void queries.invalidateQueries({ queryKey: ['functions', env] });
      tell.done(done);
    } catch (error) {
      tell.failed(error as Error);
    } finally {
      setBusy(false);
    }
  };
  if (fn.paused_at !== null) {
    return (
      <Button icon="play" busy={busy} onClick={() => void turn('resume', 'Events trigger it again')}>
        Resume
      </Button>
    );
  }
  return (
    <ConfirmButton
      variant="plain"
      icon="pause"
      title={`Pause ${fn.name}?`}
      text="Events that come while it is paused do not run it, and are not made up for later. Runs under way finish."
      confirmLabel="Pause it"
      onConfirm={() => turn('pause', 'No event triggers it now')}
    >
      Pause
    </ConfirmButton>
  );
}
