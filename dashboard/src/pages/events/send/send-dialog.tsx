import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { callApi } from '../../../api/client.ts';
import { useEnv } from '../../../api/environment.ts';
import type { EventToSend } from '../../../features/events/snippets/target.ts';
import { parseExact, stringifyExact } from '../../../lib/exact-json.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Editor } from '../../../ui/editor.tsx';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import { toast } from '../../../ui/toast.tsx';
import { findJsonError, type JsonError } from './json-error.ts';
import { PendingEvent } from './pending-event.tsx';
import { useSentEvent } from './use-sent-event.ts';
import { useAsksFirst, WhatWillRun } from './what-will-run.tsx';

interface SendDialogProps {
  title: string;
  open: boolean;
  /** Initial content of the editor. */
  event: EventToSend;
  onClose(): void;
}

/** Sends an event written as JSON. Errors keep the dialog and its text. */
export function SendDialog({ title, open, event, onClose }: SendDialogProps) {
  const env = useEnv();
  const queries = useQueryClient();
  const { openWhenStored, pending, lateId, reset } = useSentEvent(env);
  const [text, setText] = useState('');
  const [diagnostics, setDiagnostics] = useState<JsonError[]>([]);
  const [error, setError] = useState<Error>();
  const [busy, setBusy] = useState(false);
  const asksFirst = useAsksFirst(env);
  /** A preview of the event that will be sent. */
  const [checked, setChecked] = useState<EventToSend>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a refetched event must not overwrite the user's text
  useEffect(() => {
    if (!open) return reset();
    setText(stringifyExact(event, 2));
    setDiagnostics([]);
    setError(undefined);
    setChecked(undefined);
  }, [open]);

  const send = async () => {
    setError(undefined);
    reset();
    const syntaxError = findJsonError(text);
    setDiagnostics(syntaxError ? [syntaxError] : []);
    if (syntaxError) return setError(new Error(`Invalid JSON: ${syntaxError.message} (line ${syntaxError.line})`));
    if (asksFirst && !checked) return setChecked(parseExact(text) as EventToSend);
    setChecked(undefined);
    setBusy(true);
    try {
      const { data } = await callApi<{ internal_id: string }>('/v1/events', {
        method: 'POST',
        env,
        body: parseExact(text),
      });
      void queries.invalidateQueries({ queryKey: ['events', env, 'newest'] });
      toast.success('Event sent');
      if (await openWhenStored(data.internal_id)) onClose();
    } catch (failure) {
      setError(failure as Error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      open={open}
      wide
      title={title}
      onClose={onClose}
      footer={
        <>
          {checked ? (
            <Button onClick={() => setChecked(undefined)}>Back</Button>
          ) : (
            <Button onClick={onClose}>Cancel</Button>
          )}
          <Button variant="primary" icon="send" busy={busy} onClick={() => void send()}>
            {sendLabel(pending, asksFirst && !checked, env)}
          </Button>
        </>
      }
    >
      {checked && <WhatWillRun env={env} event={checked} />}
      <div hidden={checked !== undefined} className="space-y-3">
        <p className="text-sm text-muted">
          Required: <code className="font-mono text-xs">name</code>, <code className="font-mono text-xs">data</code>.
          Optional: <code className="font-mono text-xs">id</code>, <code className="font-mono text-xs">ts</code>,{' '}
          <code className="font-mono text-xs">user</code>, <code className="font-mono text-xs">v</code>.
        </p>
        <Editor
          label="Event (JSON)"
          language="json"
          value={text}
          onChange={setText}
          diagnostics={diagnostics}
          height="22rem"
        />
        <div role="status">{lateId !== undefined && <PendingEvent id={lateId} />}</div>
        {error && <ErrorAlert error={error} />}
      </div>
    </Dialog>
  );
}

function sendLabel(pending: boolean, isFirst: boolean, env: string): string {
  if (pending) return 'Sending…';
  return isFirst ? 'Continue' : `Send to ${env}`;
}
