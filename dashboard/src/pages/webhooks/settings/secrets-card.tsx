import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { callApi } from '../../../api/client.ts';
import type { Webhook } from '../../../api/types.ts';
import { lacksSecret, useProvider } from '../../../features/webhooks/providers.ts';
import { useInvalidateWebhooks, useRequests } from '../../../features/webhooks/queries.ts';
import { Button } from '../../../ui/button.tsx';
import { ConfirmButton, Dialog } from '../../../ui/dialog.tsx';
import { Card } from '../../../ui/page.tsx';
import { Time } from '../../../ui/time.tsx';
import { toast } from '../../../ui/toast.tsx';
import { SecretForm } from '../provider/secret-form.tsx';
import { DAY_SECONDS } from '../provider/use-rotate-secret.ts';

type Secret = Webhook['secrets'][number];

/** When secrets were added, expire and last matched. Their texts cannot be read. */
export function SecretsCard({ webhook, canWrite }: { webhook: Webhook; canWrite: boolean }) {
  const { data: provider } = useProvider(webhook.provider);
  const [rotating, setRotating] = useState(false);
  if (!provider?.secret.needed) return null;
  const { secrets } = webhook;
  const action = secrets.length === 0 ? 'Add secret' : 'Rotate secret';
  return (
    <Card
      title="Secrets"
      actions={
        <Button icon="key" disabled={!canWrite} onClick={() => setRotating(true)}>
          {action}
        </Button>
      }
    >
      {secrets.length === 0 ? (
        <p className="p-4 text-muted">
          None. {lacksSecret(webhook, provider) && 'Requests are rejected until the webhook has one.'}
        </p>
      ) : (
        <ul aria-label="Secrets" className="divide-y divide-line">
          {secrets.map((secret, at) => (
            <OneSecret key={secret.id} webhook={webhook} secret={secret} isNewest={at === 0} canWrite={canWrite} />
          ))}
        </ul>
      )}
      <Dialog open={rotating} title={action} onClose={() => setRotating(false)}>
        <div className="space-y-4">
          {secrets.length > 0 && (
            <p className="text-muted">
              The new secret counts at once. Keep the present one until the provider signs with the new one only.
            </p>
          )}
          <SecretForm
            webhook={webhook}
            provider={provider}
            keepOldSeconds={DAY_SECONDS}
            submitLabel={action}
            onSaved={() => setRotating(false)}
          />
        </div>
      </Dialog>
    </Card>
  );
}

interface OneSecretProps {
  webhook: Webhook;
  secret: Secret;
  isNewest: boolean;
  canWrite: boolean;
}

function OneSecret({ webhook, secret: { id, added_at, expires_at }, isNewest, canWrite }: OneSecretProps) {
  const refresh = useInvalidateWebhooks();
  const removal = useMutation({
    mutationFn: () => callApi(`/v1/webhooks/${webhook.id}/secrets/${id}`, { method: 'DELETE' }),
    async onSuccess() {
      await refresh();
      toast.success('Secret removed');
    },
    onError: toast.error,
  });
  const isLast = webhook.secrets.length === 1;
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-3">
      <span className="font-medium">{isNewest ? 'Present secret' : 'Former secret'}</span>
      <span className="text-sm text-muted">
        added <Time at={added_at} />
      </span>
      <span className="text-sm text-muted">
        {expires_at === null ? (
          'does not expire'
        ) : (
          <>
            expires <Time at={expires_at} />
          </>
        )}
      </span>
      <LastMatch webhook={webhook} secretId={id} />
      {canWrite && (
        <span className="ml-auto">
          <ConfirmButton
            icon="trash"
            title="Remove the secret?"
            text={
              isLast
                ? 'It is the only one: all requests are rejected from then on.'
                : 'Requests that are signed with it are rejected from then on.'
            }
            confirmLabel="Remove"
            onConfirm={() => removal.mutateAsync().catch(() => {})}
          >
            Remove
          </ConfirmButton>
        </span>
      )}
    </li>
  );
}

/** The latest request that the secret verified, among the latest requests of the log. */
function LastMatch({ webhook, secretId }: { webhook: Webhook; secretId: string }) {
  const { rows } = useRequests(webhook.id);
  if (!rows) return null;
  const match = rows.find(({ verification }) => verification?.secret_id === secretId);
  return (
    <span className="text-sm text-muted">
      {match ? (
        <>
          last matched <Time at={match.received_at} />
        </>
      ) : (
        'has matched none of the latest requests'
      )}
    </span>
  );
}
