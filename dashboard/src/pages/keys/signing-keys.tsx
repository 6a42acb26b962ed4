import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { callApi } from '../../api/client.ts';
import type { SigningKeys as Pair } from '../../api/types.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/code-block.tsx';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Card } from '../../ui/page.tsx';
import { useDeed } from '../../ui/use-action.ts';
import { scopeLabel, useKeyScopes } from './scope-select.tsx';
import { Section } from './section.tsx';

/** What calls to functions are signed with, and apps prove themselves with. */
export function SigningKeys() {
  const owners = useKeyScopes();
  return (
    <Section lead="Calls to functions are signed with it, and apps prove themselves with it when they register. Each environment has one; all branches share one.">
      <div className="space-y-4">
        {owners.map((owner) => (
          <SigningKey key={owner} owner={owner} />
        ))}
      </div>
    </Section>
  );
}

function SigningKey({ owner }: { owner: string }) {
  const path = `/v1/environments/${encodeURIComponent(owner)}/signing-key`;
  const { data, error, refetch } = useQuery({
    queryKey: ['signing-keys', owner],
    queryFn: ({ signal }) => callApi<Pair>(path, { signal }),
  });
  const rotate = useDeed({
    act: () => callApi<Pair>(`${path}/rotate`, { method: 'POST' }),
    told: `The signing key of ${scopeLabel(owner)} is rotated`,
    changes: 'signing-keys',
  });
  const pair = data?.data;
  const action = pair && !pair.given && (
    <ConfirmButton
      variant="plain"
      icon="again"
      title={`Rotate the signing key of ${scopeLabel(owner)}?`}
      text={<RotationExplanation fallback={pair.fallback !== null} />}
      confirmLabel="Rotate it"
      onConfirm={() => rotate.mutateAsync().catch(() => {})}
    >
      Rotate
    </ConfirmButton>
  );
  return (
    <Card title={scopeLabel(owner)} actions={action}>
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
              <Secret name="Fallback, the one before" variable="SERVICE_SIGNING_KEY_FALLBACK" value={pair.fallback} />
            )}
          </dl>
          {!pair.fallback && <p className="px-4 py-3 text-sm text-muted">No fallback: it has not been rotated.</p>}
          {pair.given && (
            <p className="px-4 py-3 text-sm text-muted">
              The setting SIGNING_KEY gives it. To rotate it, change SIGNING_KEY and SIGNING_KEY_FALLBACK and start the
              service anew.
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
      <p>A new key is made. Calls to functions are signed with it within seconds.</p>
      <p>
        The present key becomes the fallback: apps that still have it may go on registering, but they refuse calls that
        are signed with the new one until they are given it as SERVICE_SIGNING_KEY. Those calls are tried again.
      </p>
      {fallback && <p className="font-medium">The present fallback is void from then on, and does not come back.</p>}
    </div>
  );
}

function Secret({ name, variable, value }: { name: string; variable: string; value: string }) {
  const [shown, setShown] = useState(false);
  return (
    <div className="grid gap-x-6 gap-y-1 px-4 py-3 sm:grid-cols-[14rem_minmax(0,1fr)_auto] sm:items-center">
      <dt className="min-w-0">
        <span className="block font-medium">{name}</span>
        <span className="block truncate font-mono text-xs text-muted">{variable}</span>
      </dt>
      <dd className="min-w-0 font-mono text-xs break-all">{shown ? value : masked(value)}</dd>
      <dd className="flex items-center gap-1">
        <Button variant="quiet" aria-pressed={shown} onClick={() => setShown(!shown)}>
          {shown ? 'Hide' : 'Show'}
        </Button>
        <CopyButton text={value} label={`Copy: ${name}`} />
      </dd>
    </div>
  );
}

/** Its kind and its end tell one key from another. */
function masked(key: string): string {
  const [kind] = /^signkey-\w+-/.exec(key) ?? [''];
  return `${kind}••••••••${key.slice(-4)}`;
}
