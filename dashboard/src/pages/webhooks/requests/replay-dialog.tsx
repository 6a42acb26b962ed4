import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useHasAccess } from '../../../api/current-user.ts';
import type { Webhook } from '../../../api/types.ts';
import { isRate } from '../../../ui/bulk-operations/operation.ts';
import { RateField, StartDialog } from '../../../ui/bulk-operations/start-dialog.tsx';
import { Button } from '../../../ui/button.tsx';
import { Select, TextField } from '../../../ui/field.tsx';
import { SegmentedControl } from '../../../ui/segmented-control.tsx';
import { useAction } from '../../../ui/use-action.ts';
import { OUTCOMES } from '../outcome.tsx';
import type { Draft } from '../workbench/use-draft.ts';
import { ReplayDryRun } from './replay-dry-run.tsx';
import { postReplay, type ReplayForm, WEBHOOK_RATE_DEFAULT, WEBHOOK_RATE_MAX } from './replay-queries.ts';

/** Initial values of the dialog. */
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
    rate: WEBHOOK_RATE_DEFAULT,
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
  const result = dryRun.data?.result;
  return (
    <StartDialog
      title="Replay logged requests"
      onClose={onClose}
      error={start.error ?? dryRun.error}
      dryRun={{
        busy: dryRun.isPending,
        result: result && <ReplayDryRun result={result} />,
        run: () => dryRun.mutate(form),
      }}
      start={{
        busy: start.isPending,
        possible: isRate(form.rate, WEBHOOK_RATE_MAX) && result?.total !== 0,
        run: () => start.mutate(),
      }}
    >
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
        <RateField
          label="Requests per second"
          value={form.rate}
          max={WEBHOOK_RATE_MAX}
          onChange={(rate) => setForm((before) => ({ ...before, rate }))}
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
    </StartDialog>
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
