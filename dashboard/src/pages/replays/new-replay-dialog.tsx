import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { callApi } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import type { Replay, ReplayDryRun } from '../../api/types.ts';
import { refusalOf } from '../../features/search/search-box.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { useAction } from '../../ui/use-action.ts';
import { DryRunResult } from './dry-run-result.tsx';
import { NewReplayForm } from './new-replay-form.tsx';
import { bodyOf, type Form, formOf, type Given, missingIn, selectionKeyOf } from './replay-request.ts';

/** A dry run comes first; what it has shown can be started. */
export function NewReplayDialog({ given, onClose }: { given: Given; onClose(): void }) {
  const env = useEnv();
  const navigate = useNavigate();
  const [form, setForm] = useState(() => formOf(given, Date.now()));
  const dryRun = useMutation({
    mutationFn: async (tried: Form) => {
      const body = { ...bodyOf(tried), dry_run: true };
      const { data } = await callApi<ReplayDryRun>('/v1/replays', { method: 'POST', env, body });
      return { key: selectionKeyOf(tried), result: data };
    },
  });
  const start = useAction({
    run: async () => (await callApi<Replay>('/v1/replays', { method: 'POST', env, body: bodyOf(form) })).data,
    invalidates: 'replays',
    onSuccess: ({ id }) => void navigate({ to: '/replays/$id', params: { id }, search: {} }),
    showsError: true,
  });
  const change = (to: Partial<Form>) => {
    // An error is about what was entered before.
    if (dryRun.isError) dryRun.reset();
    setForm((before) => ({ ...before, ...to }));
  };
  const missing = missingIn(form);
  const result = dryRun.data?.key === selectionKeyOf(form) ? dryRun.data.result : undefined;
  const error = start.error ?? dryRun.error;
  const refusal = refusalOf(error);
  return (
    <Dialog
      open
      wide
      title="New replay"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button
            icon="search"
            variant={result ? 'secondary' : 'primary'}
            busy={dryRun.isPending}
            disabled={missing !== undefined}
            onClick={() => {
              start.reset();
              dryRun.mutate(form);
            }}
          >
            Dry run
          </Button>
          <Button
            icon="play"
            variant={result ? 'primary' : 'secondary'}
            busy={start.isPending}
            disabled={missing !== undefined || !result || (result.would_start === 0 && result.stopped_at === null)}
            title={result ? undefined : 'Do a dry run first'}
            onClick={() => start.mutate()}
          >
            Start
          </Button>
        </>
      }
    >
      <NewReplayForm form={form} error={refusal ? error : null} onChange={change} />
      <div className="mt-5 space-y-4">
        {missing && <p className="text-sm text-muted">{missing}</p>}
        {error && !refusal && <ErrorAlert error={error} />}
        {dryRun.isPending && <Loading rows={4} />}
        {result && <DryRunResult result={result} />}
      </div>
    </Dialog>
  );
}
