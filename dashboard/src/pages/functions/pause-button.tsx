import { useState } from 'react';
import type { FunctionSummary } from '../../api/types.ts';
import { PauseDialog, usePausing } from '../../features/functions/pause-dialog.tsx';
import { Button } from '../../ui/button.tsx';

export function PauseButton({ fn }: { fn: FunctionSummary }) {
  const [open, setOpen] = useState(false);
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
      <PauseDialog fn={fn} open={open} onClose={() => setOpen(false)} />
    </>
  );
}
