import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { callApi } from '../../../api/client.ts';
import { useHasAccess } from '../../../api/current-user.ts';
import { useEnv } from '../../../api/environment.ts';
import type { WhatIf } from '../../../api/types.ts';
import { OperationStatus } from '../../../ui/bulk-operations/operation-status.tsx';
import { Button } from '../../../ui/button.tsx';
import { Checkbox } from '../../../ui/checkbox.tsx';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import { Select, TextField } from '../../../ui/field.tsx';
import { FormDialog } from '../../../ui/form-dialog.tsx';
import { Card } from '../../../ui/page.tsx';
import { Time } from '../../../ui/time.tsx';
import { useAction } from '../../../ui/use-action.ts';
import { useWhatIfs } from './queries.ts';
import { countsText } from './texts.ts';

const SHOWN = 5;

/** Results of what-ifs of the app, and a button that starts one. */
export function AppWhatIfs({ app }: { app: string }) {
  const canWrite = useHasAccess('write');
  const [isAsking, setAsking] = useState(false);
  const { data: whatIfs, error, refetch } = useWhatIfs(app);
  return (
    <Card
      title="What-if"
      actions={
        canWrite && (
          <Button icon="play" onClick={() => setAsking(true)}>
            Ask a build
          </Button>
        )
      }
    >
      {error && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {whatIfs?.length === 0 && (
        <p className="px-4 py-8 text-center text-muted">
          Before a deploy, ask another build what it would do with the runs of this app. No step runs.
        </p>
      )}
      <ul aria-label="What-ifs" className="divide-y divide-line">
        {whatIfs?.slice(0, SHOWN).map((whatIf) => (
          <li key={whatIf.id} className="flex items-center gap-4 px-4 py-3">
            <div className="min-w-0 flex-1">
              <Link
                to="/apps/$name/what-ifs/$id"
                params={{ name: app, id: whatIf.id }}
                className="block truncate font-mono text-xs text-accent hover:underline"
              >
                {whatIf.url}
              </Link>
              <p className="text-sm text-muted">
                {countsText(whatIf)} · <Time at={whatIf.created_at} />
              </p>
            </div>
            <OperationStatus status={whatIf.status} waits={whatIf.waiting_because ?? undefined} />
          </li>
        ))}
      </ul>
      {isAsking && <AskDialog app={app} onClose={() => setAsking(false)} />}
    </Card>
  );
}

function AskDialog({ app, onClose }: { app: string; onClose(): void }) {
  const env = useEnv();
  const navigate = useNavigate();
  const [url, setUrl] = useState('');
  const [active, setActive] = useState(true);
  const [last, setLast] = useState('7d');
  const { mutate, isPending, error } = useAction({
    run: async () => {
      const body = { url: url.trim(), app, active, ...(last !== '' && { last }) };
      return (await callApi<WhatIf>('/v1/what-ifs', { method: 'POST', env, body })).data;
    },
    invalidates: 'what-ifs',
    onSuccess: ({ id }) => void navigate({ to: '/apps/$name/what-ifs/$id', params: { name: app, id }, search: {} }),
    showsError: true,
  });
  return (
    <FormDialog
      title="Ask another build"
      submitLabel={isPending ? 'Asking…' : 'Ask'}
      busy={isPending}
      disabled={url.trim() === '' || !(active || last !== '')}
      error={error}
      onSubmit={() => mutate()}
      onClose={onClose}
    >
      <TextField
        label="URL of the build"
        type="url"
        required
        autoFocus
        placeholder="https://shop-pr-42.example.app/api/service"
        hint="It has the signing key of this environment, and is not registered. Code between its steps does run."
        value={url}
        onChange={({ target }) => setUrl(target.value)}
      />
      <Checkbox checked={active} onChange={setActive}>
        Active runs
      </Checkbox>
      <Select label="Completed and failed runs" value={last} onChange={({ target }) => setLast(target.value)}>
        <option value="">None</option>
        <option value="1d">Of the last day</option>
        <option value="7d">Of the last 7 days</option>
        <option value="30d">Of the last 30 days</option>
      </Select>
    </FormDialog>
  );
}
