import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { callApi } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import type { Replay, ReplayDryRun } from '../../api/types.ts';
import { refusalOf } from '../../features/search/search-box.tsx';
import { StartDialog } from '../../ui/bulk-operations/start-dialog.tsx';
import { useAction } from '../../ui/use-action.ts';
import { DryRunResult } from './dry-run-result.tsx';
import { NewReplayForm } from './new-replay-form.tsx';
import { bodyOf, type Form, formOf, type Given, missingIn, selectionKeyOf } from './replay-request.ts';

/** A dry run comes first; then the same replay can be started. */
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
    // The error concerns the input before the change.
    if (dryRun.isError) dryRun.reset();
    setForm((before) => ({ ...before, ...to }));
  };
  const missing = missingIn(form);
  const result = dryRun.data?.key === selectionKeyOf(form) ? dryRun.data.result : undefined;
  const error = start.error ?? dryRun.error;
  const refusal = refusalOf(error);
  return (
    <StartDialog
      title="New replay"
      onClose={onClose}
      error={refusal ? null : error}
      dryRun={{
        busy: dryRun.isPending,
        missing,
        result: result && <DryRunResult result={result} />,
        run() {
          start.reset();
          dryRun.mutate(form);
        },
      }}
      start={{
        busy: start.isPending,
        possible: missing === undefined && (result?.would_start !== 0 || result.stopped_at !== null),
        run: () => start.mutate(),
      }}
    >
      <NewReplayForm form={form} error={refusal ? error : null} onChange={change} />
    </StartDialog>
  );
}
