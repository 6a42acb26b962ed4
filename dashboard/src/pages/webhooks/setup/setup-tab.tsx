import { useHasAccess } from '../../../api/current-user.ts';
import type { Webhook } from '../../../api/types.ts';
import { lacksSecret, useProvider } from '../../../features/webhooks/providers.ts';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import { Loading } from '../../../ui/loading.tsx';
import { Card } from '../../../ui/page.tsx';
import { SecretForm } from '../provider/secret-form.tsx';
import { LiveRequest } from './live-request.tsx';
import { Steps } from './steps.tsx';

/** Steps at the provider, and the resulting requests, live. */
export default function SetupTab({ webhook }: { webhook: Webhook }) {
  const canWrite = useHasAccess('write');
  const provider = useProvider(webhook.provider);
  if (provider.isPending) return <Loading />;
  if (provider.isError) return <ErrorAlert error={provider.error} onRetry={() => void provider.refetch()} />;
  const { secret } = provider.data;
  const isSecretMissing = lacksSecret(webhook, provider.data);
  return (
    <div className="grid items-start gap-5 lg:grid-cols-2">
      <div className="min-w-0 space-y-5">
        <Steps webhook={webhook} provider={provider.data} />
        {isSecretMissing && (
          <Card title={secret.label}>
            <div className="space-y-3 p-4">
              <p className="text-muted">Requests are rejected until the webhook has a secret.</p>
              {canWrite ? (
                <SecretForm webhook={webhook} provider={provider.data} keepOldSeconds={0} submitLabel="Save secret" />
              ) : (
                <p className="text-muted">Saving it requires write access.</p>
              )}
            </div>
          </Card>
        )}
      </div>
      <LiveRequest webhook={webhook} provider={provider.data} />
    </div>
  );
}
