import { lazy, Suspense, useState } from 'react';
import { useHasAccess } from '../../api/current-user.ts';
import type { App, AppVersion } from '../../api/types.ts';
import { useVersions } from '../../features/apps/queries.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Card } from '../../ui/page.tsx';
import { Badge } from '../../ui/status-badge.tsx';
import { Time } from '../../ui/time.tsx';

const Activate = lazy(async () => ({ default: (await import('./version-dialogs.tsx')).Activate }));
const VersionSettings = lazy(async () => ({ default: (await import('./version-dialogs.tsx')).VersionSettings }));
const MoveRuns = lazy(async () => ({ default: (await import('./move-runs.tsx')).MoveRuns }));

/** Which version new runs start on, and which can be stopped. Nothing, if the app does not name its builds. */
export function AppVersions({ app }: { app: App }) {
  const { name } = app;
  const canWrite = useHasAccess('write');
  const [isOpen, setIsOpen] = useState(false);
  const { data, error, refetch } = useVersions(name);
  const versions = data?.data;
  if (error) return <ErrorAlert error={error} onRetry={() => void refetch()} />;
  if (!versions || versions.length === 0) return null;
  return (
    <Card title="Versions" actions={canWrite && <Button onClick={() => setIsOpen(true)}>Settings…</Button>}>
      <ul aria-label="Versions" className="divide-y divide-line">
        {versions.map((version) => (
          <VersionItem key={version.version} app={name} version={version} />
        ))}
      </ul>
      <Suspense>{isOpen && <VersionSettings app={app} onClose={() => setIsOpen(false)} />}</Suspense>
    </Card>
  );
}

function VersionItem({ app, version }: { app: string; version: AppVersion }) {
  const canWrite = useHasAccess('write');
  const [dialog, setDialog] = useState<'activate' | 'move'>();
  const close = () => setDialog(undefined);
  const { state, percent, active_runs, oldest_run_at, last_wake_at, registered_at, ramp, url } = version;
  return (
    <li className="flex items-center gap-4 px-4 py-3">
      <div className="min-w-0 flex-1">
        <p className="truncate font-mono text-xs font-medium">{version.version}</p>
        <p className="truncate text-sm text-muted" title={url}>
          registered <Time at={registered_at} />
          {percent > 0 && percent < 100 && ` · ${percent} % of new runs`}
          {ramp && ` · ${ramp.failed_runs} of ${ramp.ended_runs} runs failed`}
          {ramp?.aborted_at && (
            <>
              , ramp aborted <Time at={ramp.aborted_at} />
            </>
          )}
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
      {canWrite && active_runs > 0 && <Button onClick={() => setDialog('move')}>Move runs…</Button>}
      {canWrite && state !== 'active' && (
        <Button icon="replay" onClick={() => setDialog('activate')}>
          {state === 'ramping' ? 'Change…' : 'Activate…'}
        </Button>
      )}
      <Suspense>
        {dialog === 'activate' && <Activate app={app} version={version} onClose={close} />}
        {dialog === 'move' && <MoveRuns app={app} from={version.version} onClose={close} />}
      </Suspense>
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
