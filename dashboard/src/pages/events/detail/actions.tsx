import { useState } from 'react';
import { callApi } from '../../../api/client.ts';
import { useHasAccess } from '../../../api/current-user.ts';
import type { StoredEvent } from '../../../api/types.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { toast } from '../../../ui/toast.tsx';
import { ForwardDialog } from '../send/forward-dialog.tsx';
import { PendingEvent } from '../send/pending-event.tsx';
import { SendDialog } from '../send/send-dialog.tsx';
import { useSentEvent } from '../send/use-sent-event.ts';
import { useAsksFirst, WhatWillRun } from '../send/what-will-run.tsx';
import { deduplicationId, toEventToSend } from './queries.ts';

/** Resend the event, edit and send it, or forward it to a dev server. */
export function Actions({ env, event }: { env: string; event: StoredEvent }) {
  const canWrite = useHasAccess('write');
  const { openWhenStored, pending, lateId, reset } = useSentEvent(env);
  const [busy, setBusy] = useState(false);
  const [dialog, setDialog] = useState<'edit' | 'forward' | 'resend'>();
  const asksFirst = useAsksFirst(env);
  const disabledReason = canWrite ? undefined : 'Requires write access';
  const resend = async () => {
    setBusy(true);
    try {
      const path = `/v1/events/${encodeURIComponent(event.internal_id)}/send-again`;
      const { data } = await callApi<{ internal_id: string }>(path, { method: 'POST', env });
      toast.success((await openWhenStored(data.internal_id)) ? 'Event resent. This is the new event.' : 'Event resent');
    } catch (error) {
      toast.error(error as Error);
    } finally {
      setBusy(false);
      setDialog((before) => (before === 'resend' ? undefined : before));
    }
  };
  return (
    <>
      <Button icon="external" onClick={() => setDialog('forward')}>
        Send to dev server
      </Button>
      <Button icon="edit" disabled={!canWrite} title={disabledReason} onClick={() => setDialog('edit')}>
        Edit and send
      </Button>
      <Button
        icon="retry"
        disabled={!canWrite}
        title={disabledReason}
        busy={busy}
        onClick={() => (asksFirst ? setDialog('resend') : void resend())}
      >
        {pending ? 'Sending…' : 'Resend'}
      </Button>
      <Dialog
        open={dialog === 'resend'}
        title={`Resend ${event.name} in ${env}?`}
        onClose={() => setDialog(undefined)}
        footer={
          <>
            <Button onClick={() => setDialog(undefined)}>Cancel</Button>
            <Button variant="primary" icon="retry" busy={busy} onClick={() => void resend()}>
              Resend
            </Button>
          </>
        }
      >
        <WhatWillRun env={env} event={toEventToSend(event, false)} formerId={deduplicationId(event)} />
      </Dialog>
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
      <Dialog open={lateId !== undefined} title="Event resent" onClose={reset}>
        {lateId !== undefined && <PendingEvent id={lateId} />}
      </Dialog>
    </>
  );
}
