import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { callApi } from '../../../api/client.ts';
import { useEnv } from '../../../api/environment.ts';
import type { ResentEvents } from '../../../api/types.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import { toast } from '../../../ui/toast.tsx';
import type { EventRow } from './event-pages.ts';

interface ResendSelectedProps {
  events: readonly EventRow[];
  onClose(): void;
  onDone(): void;
}

/** Sends events again, the oldest first, in one request: the audit log has it once. */
export function ResendSelected({ events, onClose, onDone }: ResendSelectedProps) {
  const env = useEnv();
  const queries = useQueryClient();
  /** IDs of the events that are not sent yet; undefined: sending has not begun. */
  const [left, setLeft] = useState<readonly string[]>();
  const names = Map.groupBy(events, ({ name }) => name);
  const count = `${events.length} ${events.length === 1 ? 'event' : 'events'}`;
  const { mutate, isPending, error } = useMutation({
    mutationFn: async () => {
      const ids = left ?? events.map(({ internal_id }) => internal_id).reverse();
      return (await callApi<ResentEvents>('/v1/events/send-again', { method: 'POST', env, body: { ids } })).data;
    },
    onSuccess: ({ missing, left: rest }) => {
      if (rest.length > 0) return setLeft(rest);
      const gone = missing.length > 0 ? `, ${missing.length} no longer stored` : '';
      toast.success(`${events.length - missing.length} of ${count} resent${gone}`);
      onDone();
      onClose();
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['events', env, 'newest'] }),
  });
  return (
    <Dialog
      open
      title={`Resend ${count} in ${env}?`}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" icon="retry" busy={isPending} onClick={() => mutate()}>
            {left ? `Resend the other ${left.length}` : `Resend ${count}`}
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
        {left && (
          <p role="status">
            {events.length - left.length} of {count} resent. The service takes no more for now.
          </p>
        )}
        {error && <ErrorAlert error={error} />}
      </div>
    </Dialog>
  );
}
