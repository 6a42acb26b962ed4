import { callApi } from '../../api/client.ts';
import { useHasAccess } from '../../api/current-user.ts';
import { useEnv } from '../../api/environment.ts';
import type { AppVersion } from '../../api/types.ts';
import { useVersions } from '../../features/apps/queries.ts';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
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
  const { state, active_runs, oldest_run_at, registered_at, url } = version;
  return (
    <li className="flex items-center gap-4 px-4 py-3">
      <div className="min-w-0 flex-1">
        <p className="truncate font-mono text-xs font-medium">{version.version}</p>
        <p className="truncate text-sm text-muted" title={url}>
          registered <Time at={registered_at} />
          {active_runs > 0 && ` · ${active_runs.toLocaleString()} pinned ${active_runs === 1 ? 'run' : 'runs'}`}
          {oldest_run_at !== null && (
            <>
              , the oldest <Time at={oldest_run_at} />
            </>
          )}
        </p>
      </div>
      <VersionState state={state} />
      {canWrite && state !== 'active' && <Activate app={app} version={version.version} />}
    </li>
  );
}

const STATES = {
  active: ['Active', 'good', 'check', 'New runs start on it'],
  draining: ['Draining', 'warn', 'clock', 'Runs that are pinned to it call it'],
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

function Activate({ app, version }: { app: string; version: string }) {
  const env = useEnv();
  const path = `/v1/apps/${encodeURIComponent(app)}/versions/${encodeURIComponent(version)}/activate`;
  const activate = useAction({
    run: () => callApi(path, { method: 'POST', env }),
    successMessage: `${version} is active`,
    invalidates: 'app-versions',
  });
  return (
    <ConfirmButton
      icon="replay"
      title={`Start new runs on ${version}?`}
      text="Its functions, triggers and limits are those of the app again. Runs that are pinned to other versions stay where they are."
      confirmLabel="Activate"
      onConfirm={() => activate.mutateAsync().catch(() => {})}
    >
      Activate
    </ConfirmButton>
  );
}
