import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { callApi } from '../../api/client.ts';
import type { SigningKeys as Pair } from '../../api/types.ts';
import { scopeLabel } from '../../lib/environment-scope.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/code-block.tsx';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Card } from '../../ui/page.tsx';
import { useAction } from '../../ui/use-action.ts';
import { useKeyScopes } from './scope-select.tsx';
import { Section } from './section.tsx';

/** Keys that sign calls to functions and registrations of apps. */
export function SigningKeys() {
  const scopes = useKeyScopes();
  return (
    <Section description="The service signs calls to functions with it, and apps authenticate with it when they register. Each environment has one; all branches share one.">
      <div className="space-y-4">
        {scopes.map((scope) => (
          <SigningKey key={scope} scope={scope} />
        ))}
      </div>
    </Section>
  );
}

function SigningKey({ scope }: { scope: string }) {
  const path = `/v1/environments/${encodeURIComponent(scope)}/signing-key`;
  const { data, error, refetch } = useQuery({
    queryKey: ['signing-keys', scope],
    queryFn: ({ signal }) => callApi<Pair>(path, { signal }),
  });
  const rotate = useAction({
    run: () => callApi<Pair>(`${path}/rotate`, { method: 'POST' }),
    successMessage: `Signing key of ${scopeLabel(scope)} rotated`,
    invalidates: 'signing-keys',
  });
  const pair = data?.data;
  const action = pair && !pair.given && (
    <ConfirmButton
      variant="secondary"
      icon="retry"
      title={`Rotate the signing key of ${scopeLabel(scope)}?`}
      text={<RotationExplanation fallback={pair.fallback !== null} />}
      confirmLabel="Rotate"
      onConfirm={() => rotate.mutateAsync().catch(() => {})}
    >
      Rotate
    </ConfirmButton>
  );
  return (
    <Card title={scopeLabel(scope)} actions={action}>
      {error && !pair && (
        <div className="p-4">
          <ErrorAlert error={error} onRetry={() => void refetch()} />
        </div>
      )}
      {!error && !pair && <Loading rows={2} />}
      {pair && (
        <div className="divide-y divide-line">
          <dl className="divide-y divide-line">
            <Secret name="Current" variable="SERVICE_SIGNING_KEY" value={pair.current} />
            {pair.fallback && (
              <Secret name="Fallback (previous key)" variable="SERVICE_SIGNING_KEY_FALLBACK" value={pair.fallback} />
            )}
          </dl>
          {!pair.fallback && <p className="px-4 py-3 text-sm text-muted">No fallback: the key has not been rotated.</p>}
          {pair.given && (
            <p className="px-4 py-3 text-sm text-muted">
              The SIGNING_KEY setting defines this key. To rotate it, change SIGNING_KEY and SIGNING_KEY_FALLBACK, then
              restart the service.
            </p>
          )}
        </div>
      )}
    </Card>
  );
}

function RotationExplanation({ fallback }: { fallback: boolean }) {
  return (
    <div className="space-y-3">
      <p>Creates a new key, which signs calls to functions within seconds.</p>
      <p>
        The current key becomes the fallback: apps that still use it can register, but reject calls signed with the new
        key until you set it as their SERVICE_SIGNING_KEY. The service retries those calls.
      </p>
      {fallback && <p className="font-medium">The current fallback key stops working permanently.</p>}
    </div>
  );
}

function Secret({ name, variable, value }: { name: string; variable: string; value: string }) {
  const [visible, setVisible] = useState(false);
  return (
    <div className="grid gap-x-6 gap-y-1 px-4 py-3 sm:grid-cols-[14rem_minmax(0,1fr)_auto] sm:items-center">
      <dt className="min-w-0">
        <span className="block font-medium">{name}</span>
        <span className="block truncate font-mono text-xs text-muted">{variable}</span>
      </dt>
      <dd className="min-w-0 font-mono text-xs break-all">{visible ? value : masked(value)}</dd>
      <dd className="flex items-center gap-1">
        <Button variant="ghost" aria-pressed={visible} onClick={() => setVisible(!visible)}>
          {visible ? 'Hide' : 'Show'}
        </Button>
        <CopyButton text={value} label={`Copy: ${name}`} />
      </dd>
    </div>
  );
}

/** Keeps the prefix and the last characters, to identify the key. */
function masked(key: string): string {
  const [kind] = /^signkey-\w+-/.exec(key) ?? [''];
  return `${kind}••••••••${key.slice(-4)}`;
}
