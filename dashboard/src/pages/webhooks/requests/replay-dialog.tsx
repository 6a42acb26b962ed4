import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useHasAccess } from '../../../api/current-user.ts';
import type { Webhook } from '../../../api/types.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import { Select, TextField } from '../../../ui/field.tsx';
import { Loading } from '../../../ui/loading.tsx';
import { SegmentedControl } from '../../../ui/segmented-control.tsx';
import { useAction } from '../../../ui/use-action.ts';
import { OUTCOMES } from '../outcome.tsx';
import type { Draft } from '../workbench/use-draft.ts';
import { ReplayDryRun } from './replay-dry-run.tsx';
import { postReplay, type ReplayForm } from './replay-queries.ts';

const RATE_MAX = 100;
const RATE_DEFAULT = 10;

/** What the dialog begins with. */
type Given = Partial<Pick<ReplayForm, 'outcome' | 'reasons' | 'requestIds'>>;

interface ReplayButtonProps {
  webhook: Webhook;
  draft: Draft;
  given: Given;
}

/** Replays logged requests through the saved transform, or through unsaved changes of it. A dry run comes first. */
export function ReplayButton(props: ReplayButtonProps) {
  const [open, setOpen] = useState(false);
  const canWrite = useHasAccess('write');
  return (
    <>
      <Button
        icon="replay"
        disabled={!canWrite}
        title={canWrite ? undefined : 'Requires write access'}
        onClick={() => setOpen(true)}
      >
        Replay
      </Button>
      {open && <ReplayDialog {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

interface ReplayDialogProps extends ReplayButtonProps {
  onClose(): void;
  onStarted?(): void;
}

export function ReplayDialog({ webhook, draft, given, onClose, onStarted }: ReplayDialogProps) {
  const [form, setForm] = useState<ReplayForm>({
    from: undefined,
    to: undefined,
    outcome: '',
    ...given,
    draft: draft.dirty ? draft.code : undefined,
    rate: RATE_DEFAULT,
  });
  const dryRun = useMutation({
    mutationFn: async (tried: ReplayForm) => ({ tried, result: (await postReplay(webhook.id, tried, true)).dry_run }),
  });
  const start = useAction({
    run: () => postReplay(webhook.id, form, false),
    invalidates: 'webhook-replays',
    successMessage: 'Replay started',
    onSuccess: () => {
      onStarted?.();
      onClose();
    },
    showsError: true,
  });
  const change = (to: Partial<ReplayForm>) => {
    dryRun.reset();
    start.reset();
    setForm((before) => ({ ...before, ...to }));
  };
  const { rate } = form;
  const isValid = Number.isInteger(rate) && rate >= 1 && rate <= RATE_MAX;
  const result = dryRun.data?.result;
  const error = start.error ?? dryRun.error;
  return (
    <Dialog
      open
      wide
      title="Replay logged requests"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button
            icon="search"
            variant={result ? 'secondary' : 'primary'}
            busy={dryRun.isPending}
            onClick={() => dryRun.mutate(form)}
          >
            Dry run
          </Button>
          <Button
            icon="play"
            variant={result ? 'primary' : 'secondary'}
            busy={start.isPending}
            disabled={!isValid || !result || result.total === 0}
            title={result ? undefined : 'Do a dry run first'}
            onClick={() => start.mutate()}
          >
            Start
          </Button>
        </>
      }
    >
      <div className="space-y-4">
        <p className="text-muted">
          The requests are processed as if they were received now, the oldest first. Each new event runs its functions.
        </p>
        {form.requestIds && (
          <p>
            {form.requestIds.length === 1 ? 'The selected request' : `The ${form.requestIds.length} selected requests`}.
            Re-runs among them are left out.
          </p>
        )}
        {form.reasons && <p>Requests that the transform or the filter rejected.</p>}
        <div className="grid gap-4 sm:grid-cols-2">
          {!form.requestIds && <SelectionFields outcome={form.outcome} onChange={change} />}
          <TextField
            label="Requests per second"
            type="number"
            min={1}
            max={RATE_MAX}
            value={Number.isNaN(rate) ? '' : rate}
            error={isValid ? undefined : `From 1 to ${RATE_MAX}`}
            onChange={({ target }) => setForm((before) => ({ ...before, rate: target.valueAsNumber }))}
          />
        </div>
        <div>
          <p className="mb-1 text-sm font-medium">Transform</p>
          <SegmentedControl
            label="Transform"
            options={[
              ['saved', 'Saved'],
              ['draft', 'Draft in the editor'],
            ]}
            value={form.draft === undefined ? 'saved' : 'draft'}
            onChange={(id) => change({ draft: id === 'draft' ? draft.code : undefined })}
          />
          {form.draft !== undefined && (
            <p className="mt-1 text-xs text-muted">The replay uses the draft as it is now, and does not save it.</p>
          )}
        </div>
        {error && <ErrorAlert error={error} />}
        {dryRun.isPending && <Loading rows={4} />}
        {result && <ReplayDryRun result={result} />}
      </div>
    </Dialog>
  );
}

/** Which requests, where they are not named. */
function SelectionFields({ outcome, onChange }: { outcome: string; onChange(to: Partial<ReplayForm>): void }) {
  return (
    <>
      <TextField
        label="Received from"
        type="datetime-local"
        hint="Empty: the oldest request"
        onChange={({ target }) => onChange({ from: isoOf(target.value) })}
      />
      <TextField
        label="Received before"
        type="datetime-local"
        hint="Empty: now"
        onChange={({ target }) => onChange({ to: isoOf(target.value) })}
      />
      <Select
        label="Outcome"
        value={outcome}
        onChange={({ target }) => onChange({ outcome: target.value, reasons: undefined })}
      >
        <option value="">All</option>
        {OUTCOMES.map((each) => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
      </Select>
    </>
  );
}

function isoOf(local: string): string | undefined {
  const ms = Date.parse(local);
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}
