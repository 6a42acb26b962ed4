import { Link, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { callApi } from '../../api/client.ts';
import { useHasAccess } from '../../api/current-user.ts';
import { useEnv } from '../../api/environment.ts';
import type { Destination, NewDestination } from '../../api/types.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Card, DescriptionItem, DescriptionList } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { useAction } from '../../ui/use-action.ts';
import { destinationPath, useDestination } from './queries.ts';

const DestinationForm = lazy(() => import('./destination-form.tsx'));
const SigningSecretDialog = lazy(() => import('./secret.tsx'));

const BODIES: Record<Destination['body'], string> = {
  event: 'The event as JSON',
  data: 'The data of the event',
  request: 'The original request',
};

/** What a destination is, on the page of its function. */
export default function DestinationDetails({ name }: { name: string }) {
  const { data, error, refetch } = useDestination(name);
  if (!data) {
    return (
      <Card title="Destination">
        {error ? <ErrorAlert error={error} onRetry={() => void refetch()} /> : <Loading rows={3} />}
      </Card>
    );
  }
  const destination = data.data;
  const { url, webhook, body, headers, forward_headers, timeout_seconds, signing_secrets } = destination;
  return (
    <Card title="Destination" actions={<Actions destination={destination} />}>
      <DescriptionList>
        <DescriptionItem term="URL">
          <span className="font-mono text-sm break-all">{url}</span>
        </DescriptionItem>
        {webhook && (
          <DescriptionItem term="Webhook">
            <Link to="/webhooks/$id" params={{ id: webhook }} className="text-accent hover:underline">
              {webhook}
            </Link>
          </DescriptionItem>
        )}
        <DescriptionItem term="Body">{BODIES[body]}</DescriptionItem>
        {headers.length > 0 && <DescriptionItem term="Headers">{headers.join(', ')}</DescriptionItem>}
        {body === 'request' && (
          <DescriptionItem term="Forwarded headers">{['content-type', ...forward_headers].join(', ')}</DescriptionItem>
        )}
        <DescriptionItem term="Timeout">{timeout_seconds} s</DescriptionItem>
        <DescriptionItem term="Signing secrets">
          {signing_secrets.map(({ added_at, until }) => (
            <span key={added_at} className="block">
              added <Time at={added_at} />
              {until && (
                <>
                  , ends <Time at={until} />
                </>
              )}
            </span>
          ))}
        </DescriptionItem>
      </DescriptionList>
    </Card>
  );
}

function Actions({ destination }: { destination: Destination }) {
  const env = useEnv();
  const navigate = useNavigate();
  const canWrite = useHasAccess('write');
  const [editing, setEditing] = useState(false);
  const [secret, setSecret] = useState<string>();
  const path = destinationPath(destination.name);
  const rotate = useAction({
    run: () => callApi<NewDestination>(`${path}/rotate-secret`, { method: 'POST', env, body: {} }),
    invalidates: 'destinations',
    onSuccess: ({ data }) => setSecret(data.secret),
  });
  const remove = useAction({
    run: async () => {
      await callApi(path, { method: 'DELETE', env });
      // Before it is read again here.
      await navigate({ to: '/destinations' });
    },
    successMessage: `${destination.name} deleted`,
    invalidates: 'destinations',
  });
  if (!canWrite) return null;
  return (
    <span className="flex flex-wrap gap-2">
      <Button icon="edit" onClick={() => setEditing(true)}>
        Edit
      </Button>
      <ConfirmButton
        variant="secondary"
        icon="key"
        title="Rotate the signing secret?"
        text="Requests are signed with a new secret at once, and with the present one too for a day."
        confirmLabel="Rotate secret"
        onConfirm={() => rotate.mutateAsync().catch(() => {})}
      >
        Rotate secret
      </ConfirmButton>
      <ConfirmButton
        icon="trash"
        title={`Delete ${destination.name}?`}
        text="Events no longer trigger it. Its active runs finish."
        confirmLabel="Delete"
        onConfirm={() => remove.mutateAsync().catch(() => {})}
      >
        Delete
      </ConfirmButton>
      <Suspense>
        {editing && <DestinationForm destination={destination} onClose={() => setEditing(false)} />}
        {secret !== undefined && <SigningSecretDialog secret={secret} onClose={() => setSecret(undefined)} />}
      </Suspense>
    </span>
  );
}
