import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { callApi } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import type { InvokeResult } from '../../api/types.ts';
import { ExactNumber, parseExact } from '../../lib/exact-json.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Editor } from '../../ui/editor.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { useTell } from '../../ui/toast.tsx';

interface InvokeDialogProps {
  open: boolean;
  onClose(): void;
  functionId: string;
  title: string;
  /** JSON text to begin with. */
  data: string;
  /** Passed on as they are. */
  user?: unknown;
  v?: string | undefined;
}

/** Runs one function on data of the reader's choice; no other function hears of it. */
export function InvokeDialog({ open, onClose, functionId, title, data, user, v }: InvokeDialogProps) {
  const env = useEnv();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const tell = useTell();
  const [text, setText] = useState(data);
  const [error, setError] = useState<Error>();
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    if (!open) return;
    setText(data);
    setError(undefined);
  }, [open, data]);
  const read = parsed(text);

  const invoke = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const body = {
        data: 'value' in read ? read.value : {},
        ...(user !== undefined && { user }),
        ...(v !== undefined && { v }),
      };
      const path = `/v1/functions/${encodeURIComponent(functionId)}/invoke`;
      const reply = await callApi<InvokeResult>(path, { method: 'POST', env, body });
      void queries.invalidateQueries({ queryKey: ['events', env] });
      tell.done('The function runs');
      onClose();
      await navigate({ to: '/runs/$id', params: { id: reply.data.run_id } });
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
          <Button onClick={onClose}>Close</Button>
          <Button variant="primary" icon="play" busy={busy} disabled={'problem' in read} onClick={() => void invoke()}>
            Run it
          </Button>
        </>
      }
    >
      <div className="space-y-3">
        <p className="text-muted">
          <code className="font-mono text-xs text-text">{functionId}</code> runs alone on an event of its own with this
          data. No other function is triggered.
        </p>
        <Editor label="Data of the event, JSON" language="json" value={text} onChange={setText} height="20rem" />
        <p role="status" className="min-h-5 text-sm text-bad">
          {'problem' in read && read.problem}
        </p>
        {error && <ErrorAlert error={error} />}
      </div>
    </Dialog>
  );
}

function parsed(text: string): { value: object } | { problem: string } {
  try {
    const value = parseExact(text);
    const isObject =
      typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
    return isObject ? { value } : { problem: 'The data of an event is a JSON object, such as {"orderId": "A1"}' };
  } catch (error) {
    return { problem: `Not JSON: ${(error as Error).message}` };
  }
}
