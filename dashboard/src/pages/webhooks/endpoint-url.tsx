import { useState } from 'react';
import type { Webhook } from '../../api/types.ts';
import { masked } from '../../features/webhooks/masked-url.ts';
import { isAllBranches } from '../../lib/environment-scope.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/code-block.tsx';

/** The URL to enter in the provider's settings. */
export function EndpointUrl({ webhook: { url, environment, methods } }: { webhook: Webhook }) {
  const shared = isAllBranches(environment);
  const [isShown, setIsShown] = useState(false);
  if (url === null) {
    return <p className="mb-6 text-muted">The URL is secret: showing it requires write access.</p>;
  }
  const fullUrl = shared ? `${url}?x-service-env=<branch>` : url;
  return (
    <div className="mb-6">
      <div className="flex items-center gap-3 rounded-lg border border-line bg-surface py-1 pr-1 pl-4">
        <span className="text-xs font-medium text-muted">{methods.join(', ')}</span>
        <code className="min-w-0 flex-1 py-1 font-mono text-sm break-all">{isShown ? fullUrl : masked(fullUrl)}</code>
        <Button variant="ghost" onClick={() => setIsShown(!isShown)}>
          {isShown ? 'Hide' : 'Show'} URL
        </Button>
        <CopyButton text={fullUrl} label="Copy URL" />
      </div>
      {shared && (
        <p className="mt-2 text-xs text-muted">
          Replace &lt;branch&gt; with the name of the branch. Events without a branch go to the holding page.
        </p>
      )}
    </div>
  );
}

/** A command that sends a first request. */
export function curlCommand(url: string | null): string {
  return `curl -X POST '${url ?? '<webhook URL>'}' \\
  -H 'content-type: application/json' -d '{"hello": "world"}'`;
}
