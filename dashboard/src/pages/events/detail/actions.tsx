import { useState } from 'react';
import { callApi } from '../../../api/client.ts';
import { useHasAccess } from '../../../api/current-user.ts';
import type { StoredEvent } from '../../../api/types.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { useTell } from '../../../ui/toast.tsx';
import { ForwardDialog } from '../send/forward-dialog.tsx';
import { PendingEvent } from '../send/pending-event.tsx';
import { SendDialog } from '../send/send-dialog.tsx';
import { useSentEvent } from '../send/use-sent-event.ts';
import { toEventToSend } from './queries.ts';

/** What can be done with an event: again as it is, again but changed, and to the reader's own machine. */
export function Actions({ env, event }: { env: string; event: StoredEvent }) {
  const may = useHasAccess('write');
  const tell = useTell();
  const { openWhenStored: goTo, pending: onItsWay, lateId: late, reset: forget } = useSentEvent(env);
  const [busy, setBusy] = useState(false);
  const [dialog, setDialog] = useState<'edit' | 'forward'>();
  const why = may ? undefined : 'This needs write access';
  const sendAgain = async () => {
    setBusy(true);
    try {
      const path = `/v1/events/${encodeURIComponent(event.internal_id)}/send-again`;
      const { data } = await callApi<{ internal_id: string }>(path, { method: 'POST', env });
      tell.done((await goTo(data.internal_id)) ? 'Sent again: this is the new event' : 'Sent again');
    } catch (error) {
      tell.failed(error as Error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <Button icon="external" onClick={() => setDialog('forward')}>
        Send to dev server
      </Button>
      <Button icon="edit" disabled={!may} title={why} onClick={() => setDialog('edit')}>
        Edit and send
      </Button>
      <Button icon="again" disabled={!may} title={why} busy={busy} onClick={() => void sendAgain()}>
        {onItsWay ? 'On its way' : 'Send again'}
      </Button>
      <SendDialog
        title="Edit and send"
        open={dialog === 'edit'}
        event={toEventToSend(event, false)}
        onClose={() => setDialog(undefined)}
      />
      <ForwardDialog
        open={dialog === 'forward'}
        event={toEventToSend(event, true)}
        onClose={() => setDialog(undefined)}
      />
      <Dialog open={late !== undefined} title="Sent again" onClose={forget}>
        {late !== undefined && <PendingEvent id={late} />}
      </Dialog>
    </>
  );
}
