import { useState } from 'react';
import type { EventToSend } from '../../../features/events/snippets/target.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Icon } from '../../../ui/icon.tsx';
import { addressError, forwardEvent, readAddress, saveAddress } from './dev-server.ts';

type Outcome = { id: string; address: string } | { error: Error };

/** Sends a copy of the event to a dev server, and shows the result. */
export function ForwardDialog({ open, event, onClose }: { open: boolean; event: EventToSend; onClose(): void }) {
  const [address, setAddress] = useState(readAddress);
  const [outcome, setOutcome] = useState<Outcome>();
  const [busy, setBusy] = useState(false);
  const addressProblem = addressError(address);
  const close = () => {
    setOutcome(undefined);
    onClose();
  };
  const send = async () => {
    if (addressProblem) return;
    setBusy(true);
    setOutcome(undefined);
    try {
      setOutcome({ id: await forwardEvent(address, event), address: address.trim() });
      saveAddress(address.trim());
    } catch (error) {
      setOutcome({ error: error as Error });
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      open={open}
      title="Send to dev server"
      onClose={close}
      footer={
        <>
          <Button onClick={close}>Close</Button>
          <Button
            variant="primary"
            icon="send"
            busy={busy}
            disabled={addressProblem !== undefined}
            onClick={() => void send()}
          >
            Send copy
          </Button>
        </>
      }
    >
      <form
        className="space-y-4"
        onSubmit={(submitted) => {
          submitted.preventDefault();
          void send();
        }}
      >
        <p className="text-muted">
          Your browser sends a copy to a service in dev mode on this machine, with the event’s
          {event.id === undefined
            ? ' timestamp.'
            : ' ID and timestamp. The dev server ignores a second copy as a duplicate.'}
        </p>
        <TextField
          label="Dev server address"
          value={address}
          error={addressProblem}
          inputMode="url"
          autoComplete="off"
          spellCheck={false}
          onChange={({ target }) => setAddress(target.value)}
        />
        <div role="status">{outcome && 'id' in outcome && <Forwarded {...outcome} />}</div>
        {outcome && 'error' in outcome && <ErrorAlert error={outcome.error} />}
      </form>
    </Dialog>
  );
}

function Forwarded({ id, address }: { id: string; address: string }) {
  return (
    <p className="flex items-start gap-2 rounded-lg bg-good-soft p-3">
      <Icon name="check" className="mt-0.5 text-good" />
      <span className="min-w-0">
        Forwarded as{' '}
        <a
          href={`${address.replace(/\/+$/, '')}/events/${id}`}
          target="_blank"
          rel="noreferrer"
          className="font-mono text-xs break-all text-accent underline"
        >
          {id}
        </a>
      </span>
    </p>
  );
}
