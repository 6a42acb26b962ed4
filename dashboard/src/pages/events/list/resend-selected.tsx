import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { callApi } from '../../../api/client.ts';
import { useEnv } from '../../../api/environment.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import { ProgressBar } from '../../../ui/progress-bar.tsx';
import { toast } from '../../../ui/toast.tsx';
import type { EventRow } from './event-pages.ts';

interface ResendSelectedProps {
  events: readonly EventRow[];
  onClose(): void;
  onDone(): void;
}

/** Sends events again, one after the other, the oldest first. Closing the dialog stops it. */
export function ResendSelected({ events, onClose, onDone }: ResendSelectedProps) {
  const env = useEnv();
  const queries = useQueryClient();
  const [done, setDone] = useState<number>();
  const [error, setError] = useState<Error>();
  const isStopped = useRef(false);
  const names = Map.groupBy(events, ({ name }) => name);
  const count = `${events.length} ${events.length === 1 ? 'event' : 'events'}`;
  const send = async () => {
    setError(undefined);
    const oldestFirst = [...events].reverse();
    let sent = done ?? 0;
    setDone(sent);
    try {
      while (sent < oldestFirst.length && !isStopped.current) {
        const { internal_id: id } = oldestFirst[sent] as EventRow;
        await callApi(`/v1/events/${encodeURIComponent(id)}/send-again`, { method: 'POST', env });
        sent++;
        setDone(sent);
      }
    } catch (failure) {
      return setError(failure as Error);
    } finally {
      void queries.invalidateQueries({ queryKey: ['events', env, 'newest'] });
    }
    toast.success(`${sent} of ${count} resent`);
    onDone();
    onClose();
  };
  const close = () => {
    isStopped.current = true;
    onClose();
  };
  const isSending = done !== undefined && !error;
  return (
    <Dialog
      open
      title={`Resend ${count} in ${env}?`}
      onClose={close}
      footer={
        <>
          <Button onClick={close}>{isSending ? 'Stop' : 'Cancel'}</Button>
          <Button variant="primary" icon="retry" busy={isSending} onClick={() => void send()}>
            {error ? 'Go on' : `Resend ${count}`}
          </Button>
        </>
      }
    >
      <div className="space-y-3">
        <ul aria-label="Event names" className="max-h-48 overflow-auto">
          {[...names].map(([name, ofName]) => (
            <li key={name} className="break-words">
              {ofName.length} × {name}
            </li>
          ))}
        </ul>
        <p className="text-muted">
          Each becomes a new event with the same data, the current time and no deduplication ID, and runs all functions
          whose triggers it meets. This cannot be undone; “Replay” runs only some functions again, on the events as they
          are.
        </p>
        {done !== undefined && <ProgressBar label="Events resent" share={done / events.length} />}
        {error && <ErrorAlert error={error} />}
      </div>
    </Dialog>
  );
}
