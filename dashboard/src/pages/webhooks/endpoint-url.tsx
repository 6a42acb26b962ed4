import type { Webhook } from '../../api/types.ts';
import { isAllBranches } from '../../features/webhooks/scope.ts';
import { CopyButton } from '../../ui/code-block.tsx';

/** Where the provider posts to, to be copied into its settings. */
export function EndpointUrl({ webhook: { url, environment } }: { webhook: Webhook }) {
  const shared = isAllBranches(environment);
  if (url === null) {
    return <p className="mb-6 text-muted">Its URL is shown to those with write access: whoever knows it can send.</p>;
  }
  const shown = shared ? `${url}?x-service-env=<branch>` : url;
  return (
    <div className="mb-6">
      <div className="flex items-center gap-3 rounded-lg border border-line bg-surface py-1 pr-1 pl-4">
        <span className="text-xs font-medium text-muted">POST</span>
        <code className="min-w-0 flex-1 py-1 font-mono text-sm break-all">{shown}</code>
        <CopyButton text={shown} label="Copy the URL" />
      </div>
      {shared && (
        <p className="mt-2 text-xs text-muted">
          Put the branch’s name in place of &lt;branch&gt;. What names no branch waits on the holding page.
        </p>
      )}
    </div>
  );
}

/** A request as a shell sends it, for a webhook that was sent none. */
export function curlCommand(url: string | null): string {
  return `curl -X POST '${url ?? '<its URL>'}' \\
  -H 'content-type: application/json' -d '{"hello": "world"}'`;
}
