import { useState } from 'react';
import { callApi } from '../../api/client.ts';
import { useHasAccess } from '../../api/current-user.ts';
import { useEnv } from '../../api/environment.ts';
import type { App, AppCheck } from '../../api/types.ts';
import { connects } from '../../features/apps/connects.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Card } from '../../ui/page.tsx';
import { duration, Time } from '../../ui/time.tsx';

type State = 'idle' | 'running' | { error: Error } | { health: AppCheck; at: string };

/** Probes the app and shows problems with their fixes. */
export function HealthCheck({ app }: { app: App }) {
  const { name } = app;
  const env = useEnv();
  const canWrite = useHasAccess('write');
  const [state, setState] = useState<State>('idle');
  const check = async () => {
    setState('running');
    try {
      const path = `/v1/apps/${encodeURIComponent(name)}/check`;
      const { data, metadata } = await callApi<AppCheck>(path, { method: 'POST', env });
      setState({ health: data, at: metadata.fetched_at });
    } catch (error) {
      setState({ error: error as Error });
    }
  };
  const button = canWrite && (
    <Button icon="retry" busy={state === 'running'} onClick={() => void check()}>
      Run check
    </Button>
  );
  return (
    <Card title="Health check" actions={button}>
      <div aria-live="polite">
        {state === 'idle' && (
          <p className="p-4 text-muted">
            {connects(app)
              ? 'Checks whether an instance is connected and takes calls.'
              : 'Sends a request to the app’s URL without running any function, and checks the URL, mode, signing key and registration.'}
          </p>
        )}
        {state === 'running' && <Loading rows={2} />}
        {typeof state === 'object' && 'error' in state && (
          <div className="p-4">
            <ErrorAlert error={state.error} />
          </div>
        )}
        {typeof state === 'object' && 'health' in state && <CheckResult {...state} connects={connects(app)} />}
      </div>
    </Card>
  );
}

interface CheckResultProps {
  health: AppCheck;
  at: string;
  connects: boolean;
}

function CheckResult({ health, at, connects }: CheckResultProps) {
  const { ok, reachable, status, answered_in_ms, problems } = health;
  const responded = ok ? 'The app responded' : 'No response from the app';
  const connected = reachable ? 'An instance is connected' : 'No instance is connected';
  return (
    <>
      <p className="flex items-center gap-2 px-4 pt-4">
        <Icon name={ok ? 'check' : 'warning'} className={ok ? 'text-good' : 'text-bad'} />
        <span className="font-medium">{ok ? 'No problems found' : problemCount(problems.length)}</span>
      </p>
      <p className="px-4 pt-1 pb-4 text-sm text-muted">
        {status !== null ? `Status ${status}` : connects ? connected : responded}
        {answered_in_ms !== null && ` in ${duration(answered_in_ms)}`} · checked <Time at={at} />
      </p>
      {problems.length > 0 && (
        <ul className="divide-y divide-line border-t border-line">
          {problems.map(({ code, message, fix }) => (
            <li key={code + message} className="px-4 py-3">
              <p className="break-words">{message}</p>
              <p className="mt-1 break-words">
                <span className="text-muted">Fix: </span>
                {fix}
              </p>
              <p className="mt-1 font-mono text-xs text-muted">{code}</p>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function problemCount(problems: number): string {
  return problems === 1 ? '1 problem found' : `${problems} problems found`;
}
