import { useState } from 'react';
import { callApi } from '../../api/client.ts';
import { useHasAccess } from '../../api/current-user.ts';
import { useEnv } from '../../api/environment.ts';
import type { AppCheck } from '../../api/types.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Card } from '../../ui/page.tsx';
import { duration, Time } from '../../ui/time.tsx';

type State = 'unasked' | 'asking' | { error: Error } | { health: AppCheck; at: string };

/** Asks the app whether it is well, and says what is wrong and what helps. */
export function HealthCheck({ name }: { name: string }) {
  const env = useEnv();
  const mayWrite = useHasAccess('write');
  const [state, setState] = useState<State>('unasked');
  const check = async () => {
    setState('asking');
    try {
      const path = `/v1/apps/${encodeURIComponent(name)}/check`;
      const { data, metadata } = await callApi<AppCheck>(path, { method: 'POST', env });
      setState({ health: data, at: metadata.fetched_at });
    } catch (error) {
      setState({ error: error as Error });
    }
  };
  const button = mayWrite && (
    <Button icon="again" busy={state === 'asking'} onClick={() => void check()}>
      Check now
    </Button>
  );
  return (
    <Card title="Health check" actions={button}>
      <div aria-live="polite">
        {state === 'unasked' && (
          <p className="p-4 text-muted">
            Asks the app at its URL, without running anything, and says what is wrong with its address, its mode, its
            signing key or its registration.
          </p>
        )}
        {state === 'asking' && <Loading rows={2} />}
        {typeof state === 'object' && 'error' in state && (
          <div className="p-4">
            <ErrorAlert error={state.error} />
          </div>
        )}
        {typeof state === 'object' && 'health' in state && <Findings {...state} />}
      </div>
    </Card>
  );
}

function Findings({ health: { ok, status, answered_in_ms, problems }, at }: { health: AppCheck; at: string }) {
  return (
    <>
      <p className="flex items-center gap-2 px-4 pt-4">
        <Icon name={ok ? 'check' : 'warning'} className={ok ? 'text-good' : 'text-bad'} />
        <span className="font-medium">{ok ? 'Nothing is wrong' : countOf(problems.length)}</span>
      </p>
      <p className="px-4 pt-1 pb-4 text-sm text-muted">
        {status !== null ? `It answered ${status}` : ok ? 'An app answered' : 'No app answered'}
        {answered_in_ms !== null && ` in ${duration(answered_in_ms)}`} · checked <Time at={at} />
      </p>
      {problems.length > 0 && (
        <ul className="divide-y divide-line border-t border-line">
          {problems.map(({ code, message, fix }) => (
            <li key={code + message} className="px-4 py-3">
              <p className="break-words">{message}</p>
              <p className="mt-1 break-words">
                <span className="text-muted">What helps: </span>
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

function countOf(problems: number): string {
  return problems === 1 ? 'One thing is wrong' : `${problems} things are wrong`;
}
