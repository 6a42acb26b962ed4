import { useState } from 'react';
import { callApi } from '../../api/client.ts';
import { useHasAccess } from '../../api/current-user.ts';
import { useEnv } from '../../api/environment.ts';
import type { AppVersion } from '../../api/types.ts';
import { useVersions } from '../../features/apps/queries.ts';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { TextField } from '../../ui/field.tsx';
import { Card } from '../../ui/page.tsx';
import { Badge } from '../../ui/status-badge.tsx';
import { Time } from '../../ui/time.tsx';
import { useAction } from '../../ui/use-action.ts';

/** Which version new runs start on, and which can be stopped. Nothing, if the app does not name its builds. */
export function AppVersions({ name }: { name: string }) {
  const { data, error, refetch } = useVersions(name);
  const versions = data?.data;
  if (error) return <ErrorAlert error={error} onRetry={() => void refetch()} />;
  if (!versions || versions.length === 0) return null;
  return (
    <Card title="Versions">
      <ul aria-label="Versions" className="divide-y divide-line">
        {versions.map((version) => (
          <VersionItem key={version.version} app={name} version={version} />
        ))}
      </ul>
    </Card>
  );
}

function VersionItem({ app, version }: { app: string; version: AppVersion }) {
  const canWrite = useHasAccess('write');
  const { state, percent, active_runs, oldest_run_at, last_wake_at, registered_at, url } = version;
  return (
    <li className="flex items-center gap-4 px-4 py-3">
      <div className="min-w-0 flex-1">
        <p className="truncate font-mono text-xs font-medium">{version.version}</p>
        <p className="truncate text-sm text-muted" title={url}>
          registered <Time at={registered_at} />
          {percent > 0 && percent < 100 && ` · ${percent} % of new runs`}
          {active_runs > 0 && ` · ${active_runs.toLocaleString()} pinned ${active_runs === 1 ? 'run' : 'runs'}`}
          {oldest_run_at !== null && (
            <>
              , the oldest <Time at={oldest_run_at} />
            </>
          )}
          {last_wake_at !== null && (
            <>
              , the last wakes <Time at={last_wake_at} />
            </>
          )}
        </p>
      </div>
      <VersionState state={state} />
      {canWrite && state !== 'active' && (
        <Activate app={app} version={version.version} isRamping={state === 'ramping'} />
      )}
    </li>
  );
}

const STATES = {
  active: ['Active', 'good', 'check', 'New runs start on it'],
  ramping: ['Ramping', 'good', 'clock', 'A share of the new runs of pinned functions starts on it'],
  draining: ['Draining', 'warn', 'clock', 'Runs that are pinned to it call it'],
  waiting: ['Waiting', 'neutral', 'clock', 'Nothing calls it before it is activated'],
  drained: ['Drained', 'neutral', 'check', 'Nothing calls it: it is safe to stop'],
} as const;

function VersionState({ state }: Pick<AppVersion, 'state'>) {
  const [text, tone, icon, title] = STATES[state];
  return (
    <Badge tone={tone} icon={icon} title={title}>
      {text}
    </Badge>
  );
}

function Activate({ app, version, isRamping }: { app: string; version: string; isRamping: boolean }) {
  const env = useEnv();
  const [percent, setPercent] = useState('100');
  const path = `/v1/apps/${encodeURIComponent(app)}/versions/${encodeURIComponent(version)}/activate`;
  const activate = useAction({
    run: () => callApi(path, { method: 'POST', env, body: { percent: Number(percent) } }),
    successMessage: `${percent} % of new runs start on ${version}`,
    invalidates: 'app-versions',
  });
  return (
    <ConfirmButton
      icon="replay"
      title={`Start new runs on ${version}?`}
      text={
        <>
          <p className="mb-4">
            At 100 %, its functions, triggers and limits are those of the app again. At less, only that share of the new
            runs of pinned functions starts on it. Runs that are pinned to other versions stay where they are.
          </p>
          <TextField
            label="Percent of new runs"
            type="number"
            min={0}
            max={100}
            value={percent}
            onChange={({ target }) => setPercent(target.value)}
          />
        </>
      }
      confirmLabel={isRamping ? 'Set' : 'Activate'}
      onConfirm={() => activate.mutateAsync().catch(() => {})}
    >
      {isRamping ? 'Change' : 'Activate'}
    </ConfirmButton>
  );
}
