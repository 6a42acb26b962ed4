import { lazy, Suspense, useState } from 'react';
import type { FunctionSummary } from '../../api/types.ts';
import { usePausing } from '../../features/functions/use-pausing.ts';
import { Button } from '../../ui/button.tsx';

const PauseDialog = lazy(() => import('../../features/functions/pause-dialog.tsx'));

export function PauseButton({ fn }: { fn: FunctionSummary }) {
  // undefined: not opened yet. It stays mounted when it is closed, so that the focus returns to the button.
  const [open, setOpen] = useState<boolean>();
  const { busy, resume } = usePausing(fn);
  if (fn.paused_at !== null) {
    return (
      <Button icon="play" busy={busy} onClick={() => void resume()}>
        Resume
      </Button>
    );
  }
  return (
    <>
      <Button icon="pause" onClick={() => setOpen(true)}>
        Pause
      </Button>
      {open !== undefined && (
        <Suspense>
          <PauseDialog fn={fn} open={open} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
