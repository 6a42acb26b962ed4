import { useBlocker } from '@tanstack/react-router';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';

/** Nobody loses what they wrote by a click on a link, or by closing the tab. */
export function UnsavedChangesGuard({ dirty }: { dirty: boolean }) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => dirty && current.pathname !== next.pathname,
    enableBeforeUnload: () => dirty,
    withResolver: true,
  });
  return (
    <Dialog
      open={status === 'blocked'}
      title="Leave without saving?"
      onClose={() => reset?.()}
      footer={
        <>
          <Button onClick={() => reset?.()}>Stay here</Button>
          <Button variant="danger" onClick={() => proceed?.()}>
            Leave, and lose the changes
          </Button>
        </>
      }
    >
      The transform has changes that are not saved.
    </Dialog>
  );
}
