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
import { toast } from '../../ui/toast.tsx';

interface InvokeDialogProps {
  open: boolean;
  onClose(): void;
  functionId: string;
  title: string;
  /** Initial JSON text. */
  data: string;
  /** Passed through. */
  user?: unknown;
  v?: string | undefined;
}

/** Invokes one function with custom data; no other function is triggered. */
export default function InvokeDialog({ open, onClose, functionId, title, data, user, v }: InvokeDialogProps) {
  const env = useEnv();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [text, setText] = useState(data);
  const [error, setError] = useState<Error>();
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    if (!open) return;
    setText(data);
    setError(undefined);
  }, [open, data]);
  const input = parseData(text);

  const invoke = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const body = {
        data: 'value' in input ? input.value : {},
        ...(user !== undefined && { user }),
        ...(v !== undefined && { v }),
      };
      const path = `/v1/functions/${encodeURIComponent(functionId)}/invoke`;
      const { data: invoked } = await callApi<InvokeResult>(path, { method: 'POST', env, body });
      void queries.invalidateQueries({ queryKey: ['events', env] });
      toast.success('Function invoked');
      onClose();
      await navigate({ to: '/runs/$id', params: { id: invoked.run_id } });
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
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" icon="play" busy={busy} disabled={'problem' in input} onClick={() => void invoke()}>
            Invoke
          </Button>
        </>
      }
    >
      <div className="space-y-3">
        <p className="text-muted">
          Runs <code className="font-mono text-xs text-text">{functionId}</code> on a new event with this data. No other
          function is triggered.
        </p>
        <Editor label="Event data (JSON)" language="json" value={text} onChange={setText} height="20rem" />
        <p role="status" className="min-h-5 text-sm text-bad">
          {'problem' in input && input.problem}
        </p>
        {error && <ErrorAlert error={error} />}
      </div>
    </Dialog>
  );
}

function parseData(text: string): { value: object } | { problem: string } {
  try {
    const value = parseExact(text);
    const isObject =
      typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
    return isObject ? { value } : { problem: 'Event data must be a JSON object, for example {"orderId": "A1"}' };
  } catch (error) {
    return { problem: `Invalid JSON: ${(error as Error).message}` };
  }
}
