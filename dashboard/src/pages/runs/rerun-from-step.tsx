import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useHasAccess } from '../../api/current-user.ts';
import { ExactNumber, parseExact } from '../../lib/exact-json.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Editor } from '../../ui/editor.tsx';
import type { TimelineRowData } from './timeline-row-data.ts';
import { useRunActions } from './use-run-actions.ts';

/** Re-runs the run from this step on, with the arguments that the function gives it or with others. */
export function RerunFromStep({ runId, row }: { runId: string; row: TimelineRowData }) {
  const canWrite = useHasAccess('write');
  const { rerunFrom } = useRunActions();
  const navigate = useNavigate();
  const [open, setOpen] = useState(false);
  const [busy, setBusy] = useState(false);
  const [text, setText] = useState('');
  const { stepId } = row;
  if (!canWrite || stepId === null) return null;
  const input = parseArguments(text);
  const rerun = async () => {
    if ('problem' in input) return;
    setBusy(true);
    const run = await rerunFrom(runId, { step_id: stepId, ...(input.value && { input: input.value }) });
    setBusy(false);
    if (!run) return;
    setOpen(false);
    await navigate({ to: '/runs/$id', params: { id: run.run_id } });
  };
  return (
    <>
      <Button icon="retry" onClick={() => setOpen(true)}>
        Re-run from here
      </Button>
      <Dialog
        open={open}
        title={`Re-run from ${row.name}`}
        onClose={() => setOpen(false)}
        footer={
          <>
            <Button onClick={() => setOpen(false)}>Cancel</Button>
            <Button
              variant="primary"
              icon="retry"
              busy={busy}
              disabled={'problem' in input}
              onClick={() => void rerun()}
            >
              Re-run
            </Button>
          </>
        }
      >
        <div className="space-y-3">
          <p className="text-muted">
            A new run keeps the results of the steps that finished before this one. This step and those after it run
            again.
          </p>
          {row.kind === 'called' && (
            <>
              <p className="text-muted">
                Apps with the official TypeScript SDK: other arguments for the step, as a JSON array. Empty: those that
                the function gives it.
              </p>
              <Editor label="Arguments (JSON)" language="json" value={text} onChange={setText} height="10rem" />
              <p role="status" className="min-h-5 text-sm text-bad">
                {'problem' in input && input.problem}
              </p>
            </>
          )}
        </div>
      </Dialog>
    </>
  );
}

function parseArguments(text: string): { value: unknown[] | undefined } | { problem: string } {
  if (text.trim() === '') return { value: undefined };
  try {
    const value: unknown = parseExact(text);
    if (Array.isArray(value) && !(value instanceof ExactNumber)) return { value };
    return { problem: 'Arguments must be a JSON array, for example ["A1", 2]' };
  } catch (error) {
    return { problem: `Invalid JSON: ${(error as Error).message}` };
  }
}
