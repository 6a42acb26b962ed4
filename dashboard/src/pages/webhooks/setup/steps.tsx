import type { ProviderDetails, Webhook } from '../../../api/types.ts';
import { masked } from '../../../features/webhooks/masked-url.ts';
import { isAllBranches } from '../../../lib/environment-scope.ts';
import { Icon } from '../../../ui/icon.tsx';
import { Card } from '../../../ui/page.tsx';

const URL_PLACEHOLDER = '{url}';

/** Setup steps at the provider. */
export function Steps({ webhook, provider }: { webhook: Webhook; provider: ProviderDetails }) {
  const { name, kind, setup, docs } = provider;
  return (
    <Card
      title={kind === 'provider' ? `Set up ${name}` : 'Set up the provider'}
      actions={
        <a
          href={docs}
          target="_blank"
          rel="noreferrer"
          className="inline-flex items-center gap-1 text-sm text-accent underline"
        >
          {kind === 'provider' ? `${name} documentation` : 'Documentation'}
          <Icon name="external" />
        </a>
      }
    >
      <ol className="list-decimal space-y-2 py-4 pr-4 pl-9">
        {setup.map((step) => (
          <li key={step} className="break-words">
            <Step text={step} url={fullUrl(webhook)} />
          </li>
        ))}
      </ol>
    </Card>
  );
}

function Step({ text, url }: { text: string; url: string }) {
  return text.split(URL_PLACEHOLDER).map((part, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts have no identity but their position
    <span key={at}>
      {at > 0 && <code className="font-mono text-xs break-all">{masked(url)}</code>}
      {part}
    </span>
  ));
}

function fullUrl({ url, environment }: Webhook): string {
  if (url === null) return 'the URL of the webhook';
  return isAllBranches(environment) ? `${url}?x-service-env=<branch>` : url;
}
