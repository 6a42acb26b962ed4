import type { Provider, Webhook } from '../../api/types.ts';
import { lacksSecret } from '../../features/webhooks/providers.ts';
import { Badge } from '../../ui/status-badge.tsx';

interface ProviderNameProps {
  webhook: Webhook;
  /** undefined: the list of providers is not loaded, or does not have it. */
  provider: Provider | undefined;
}

/** Name of the webhook's provider, and whether its requests are not verified, or all rejected. */
export function ProviderName({ webhook, provider }: ProviderNameProps) {
  return (
    <span className="inline-flex min-w-0 items-center gap-2">
      <span className="truncate">{provider?.name ?? webhook.provider}</span>
      {!webhook.verify && (
        <Badge tone="warn" icon="warning" title="Requests are not verified">
          not verified
        </Badge>
      )}
      {provider && lacksSecret(webhook, provider) && (
        <Badge tone="bad" icon="key" title="Requests are rejected until the webhook has a secret">
          no secret
        </Badge>
      )}
    </span>
  );
}
