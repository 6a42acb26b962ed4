import { useBlocker } from '@tanstack/react-router';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';

/** Asks before navigation or closing the tab discards unsaved changes. */
export function UnsavedChangesGuard({ dirty }: { dirty: boolean }) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => dirty && current.pathname !== next.pathname,
    enableBeforeUnload: () => dirty,
    withResolver: true,
  });
  return (
    <Dialog
      open={status === 'blocked'}
      title="Discard unsaved changes?"
      onClose={() => reset?.()}
      footer={
        <>
          <Button onClick={() => reset?.()}>Keep editing</Button>
          <Button variant="danger" onClick={() => proceed?.()}>
            Discard changes
          </Button>
        </>
      }
    >
      The transform has unsaved changes.
    </Dialog>
  );
}
