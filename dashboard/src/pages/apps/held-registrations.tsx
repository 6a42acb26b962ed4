import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { callApi } from '../../api/client.ts';
import { useHasAccess } from '../../api/current-user.ts';
import { useEnv } from '../../api/environment.ts';
import type { HeldRegistration } from '../../api/types.ts';
import { Button } from '../../ui/button.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Card } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';

const REFRESH_MS = 10_000;

/** Registrations that wait for a confirmation; nothing if there are none. @param app undefined: all apps */
export function HeldRegistrations({ app }: { app?: string }) {
  const env = useEnv();
  const { data } = useQuery({
    queryKey: ['held-registrations', env],
    queryFn: ({ signal }) => callApi<HeldRegistration[]>('/v1/held-registrations', { env, signal }),
    refetchInterval: REFRESH_MS,
  });
  const canWrite = useHasAccess('write');
  const held = data?.data.filter((one) => app === undefined || one.app === app) ?? [];
  if (held.length === 0) return null;
  return (
    <Card title="Waiting for confirmation">
      <p className="px-4 pt-3 text-sm text-muted">
        {app === undefined ? 'These apps' : 'This app'} registered at an address that nobody has allowed, and stay
        {app === undefined ? '' : 's'} as before. Anybody can cause this by a request with another Host: confirm only
        addresses of your own.
      </p>
      <Refused held={held} />
      <ul className="divide-y divide-line">
        {held.map((one) => (
          <li key={one.id} className="flex flex-wrap items-center justify-between gap-3 px-4 py-3">
            <div className="min-w-0">
              <p className="font-medium">{one.app}</p>
              <p className="font-mono text-xs break-all">{one.url}</p>
              {originsOfFunctions(one).map((origin) => (
                <p key={origin} className="text-xs break-all">
                  Functions at <span className="font-mono">{origin}</span>
                </p>
              ))}
              <p className="text-xs text-muted">
                {one.present_url === null ? 'A new app' : `Now at ${one.present_url}`} · <Time at={one.last_at} />
              </p>
            </div>
            {canWrite && <Answers held={one} />}
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** Registrations that were refused because the maximum number waits. */
function Refused({ held }: { held: HeldRegistration[] }) {
  const byApp = new Map(held.map(({ app, refused }) => [app, refused]));
  return [...byApp].map(
    ([app, refused]) =>
      refused && (
        <p key={app} className="px-4 pt-2 text-sm text-muted">
          {refused.count} more of {app} {refused.count === 1 ? 'was' : 'were'} refused, since no more may wait; the last
          one at <span className="font-mono text-xs break-all">{refused.last_url}</span>, <Time at={refused.last_at} />.
          If that is yours, register the app at this URL.
        </p>
      ),
  );
}

/** Further origins that are not allowed, in addition to the origin of the URL. */
function originsOfFunctions({ url, origins }: HeldRegistration): string[] {
  return origins.filter((origin) => origin !== new URL(url).origin);
}

function Answers({ held }: { held: HeldRegistration }) {
  const [open, setOpen] = useState(false);
  const { reject } = useAnswers(held);
  return (
    <div className="flex gap-2">
      <Button onClick={() => void reject()}>Reject</Button>
      <Button variant="primary" onClick={() => setOpen(true)}>
        Confirm
      </Button>
      {open && <ConfirmDialog held={held} onClose={() => setOpen(false)} />}
    </div>
  );
}

function ConfirmDialog({ held, onClose }: { held: HeldRegistration; onClose(): void }) {
  const { app, url, proposed_pattern: pattern } = held;
  const { confirm } = useAnswers(held);
  const [allows, setAllows] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();
  const submit = async () => {
    setBusy(true);
    setError(undefined);
    await confirm(allows && pattern !== null ? [pattern] : []).then(onClose, setError);
    setBusy(false);
  };
  return (
    <Dialog
      open
      title={`Move ${app}?`}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" busy={busy} onClick={() => void submit()}>
            Confirm
          </Button>
        </>
      }
    >
      <div className="space-y-4">
        <p>
          The app at this address is asked to register, and its functions are called there from then on:{' '}
          <span className="font-mono text-sm break-all">{url}</span>
        </p>
        {originsOfFunctions(held).map((origin) => (
          <p key={origin}>
            It may have functions at <span className="font-mono text-sm break-all">{origin}</span>
          </p>
        ))}
        {pattern !== null && (
          <Checkbox checked={allows} onChange={setAllows}>
            Also allow <span className="font-mono">{pattern}</span>, for deployments to come
          </Checkbox>
        )}
        {error && <ErrorAlert error={error} />}
      </div>
    </Dialog>
  );
}

function useAnswers({ id, app }: HeldRegistration) {
  const env = useEnv();
  const queries = useQueryClient();
  const refetch = () => {
    for (const resource of ['held-registrations', 'apps', 'app', 'status', 'functions', 'function'])
      void queries.invalidateQueries({ queryKey: [resource, env] });
  };
  return {
    confirm: async (allow: string[]) => {
      try {
        await callApi(`/v1/held-registrations/${id}/confirm`, { method: 'POST', env, body: { allow } });
        toast.success(`${app} registered`);
      } finally {
        refetch();
      }
    },
    reject: async () => {
      try {
        await callApi(`/v1/held-registrations/${id}`, { method: 'DELETE', env });
        toast.success('Registration rejected');
      } catch (error) {
        toast.error(error as Error);
      }
      refetch();
    },
  };
}
