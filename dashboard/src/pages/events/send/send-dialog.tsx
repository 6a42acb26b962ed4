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
import { useTell } from '../../../ui/toast.tsx';
import { findJsonError, type JsonError } from './json-error.ts';
import { PendingEvent } from './pending-event.tsx';
import { useSentEvent } from './use-sent-event.ts';

interface SendDialogProps {
  title: string;
  open: boolean;
  /** What the editor begins with. */
  event: EventToSend;
  onClose(): void;
}

/** An event written by hand. What the service does not take is said here, and nothing is lost. */
export function SendDialog({ title, open, event, onClose }: SendDialogProps) {
  const env = useEnv();
  const queries = useQueryClient();
  const tell = useTell();
  const { openWhenStored: goTo, pending: onItsWay, lateId: late, reset: forget } = useSentEvent(env);
  const [text, setText] = useState('');
  const [marks, setMarks] = useState<JsonError[]>([]);
  const [problem, setProblem] = useState<Error>();
  const [busy, setBusy] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is being written is not overwritten when the event is read anew
  useEffect(() => {
    if (!open) return forget();
    setText(stringifyExact(event, 2));
    setMarks([]);
    setProblem(undefined);
  }, [open]);

  const send = async () => {
    setProblem(undefined);
    forget();
    const mark = findJsonError(text);
    setMarks(mark ? [mark] : []);
    if (mark) return setProblem(new Error(`This is not JSON: ${mark.message} (line ${mark.line})`));
    setBusy(true);
    try {
      const { data } = await callApi<{ internal_id: string }>('/v1/events', {
        method: 'POST',
        env,
        body: parseExact(text),
      });
      void queries.invalidateQueries({ queryKey: ['events', env, 'newest'] });
      tell.done('Sent');
      if (await goTo(data.internal_id)) onClose();
    } catch (error) {
      setProblem(error as Error);
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
          <Button onClick={onClose}>Close</Button>
          <Button variant="primary" icon="send" busy={busy} onClick={() => void send()}>
            {onItsWay ? 'On its way' : `Send to ${env}`}
          </Button>
        </>
      }
    >
      <div className="space-y-3">
        <p className="text-sm text-muted">
          <code className="font-mono text-xs">name</code> and <code className="font-mono text-xs">data</code>, and if
          you like <code className="font-mono text-xs">id</code>, <code className="font-mono text-xs">ts</code>,{' '}
          <code className="font-mono text-xs">user</code>, <code className="font-mono text-xs">v</code>. It runs every
          function that it triggers.
        </p>
        <Editor
          label="The event, as JSON"
          language="json"
          value={text}
          onChange={setText}
          diagnostics={marks}
          height="22rem"
        />
        <div role="status">{late !== undefined && <PendingEvent id={late} />}</div>
        {problem && <ErrorAlert error={problem} />}
      </div>
    </Dialog>
  );
}
