import { Link } from '@tanstack/react-router';
import type { FunctionDetails } from '../../api/types.ts';
import { useApp } from '../../features/apps/queries.ts';
import { deployText, originText } from '../../features/deploys/deploy-text.ts';
import { useDeploys } from '../../features/deploys/queries.ts';
import { CopyButton } from '../../ui/code-block.tsx';
import { JsonTree } from '../../ui/json-tree.tsx';
import { Card, DescriptionItem } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';

/** Origin of the function: its app, and the app's registration. */
export default function Registration({ fn }: { fn: FunctionDetails }) {
  const app = useApp(fn.app).data?.data;
  const deploy = useDeploys(fn.app, 1).data?.data[0];
  return (
    <Card title="Registration">
      <dl className="space-y-3 p-4">
        <DescriptionItem term="App">
          <Link to="/apps/$name" params={{ name: fn.app }} className="text-accent hover:underline">
            {fn.app}
          </Link>
        </DescriptionItem>
        <DescriptionItem term="URL">
          <span className="flex items-center gap-1">
            <span title={fn.url} className="truncate font-mono text-xs">
              {fn.url}
            </span>
            <CopyButton text={fn.url} label="Copy URL" />
          </span>
        </DescriptionItem>
        {app && (
          <>
            <DescriptionItem term="SDK">
              <span className="font-mono text-xs">{app.sdk ?? '–'}</span>
              {app.framework && <span className="text-sm text-muted"> with {app.framework}</span>}
            </DescriptionItem>
            <DescriptionItem term="Registered">
              <Time at={app.registered_at} />
              {app.last_sync.succeeded && app.last_sync.by && (
                <span className="text-sm text-muted">, {originText(app.last_sync.by)}</span>
              )}
            </DescriptionItem>
          </>
        )}
        {deploy && (
          <DescriptionItem term="Last deploy">
            <Time at={deploy.at} />
            <span className="text-sm break-words text-muted">, {deployText(deploy)}</span>
          </DescriptionItem>
        )}
      </dl>
      <details className="border-t border-line">
        <summary className="cursor-pointer px-4 py-2.5 text-sm text-muted hover:text-text">
          Configuration as registered
        </summary>
        <JsonTree value={fn.configuration} label="Configuration registered by the app" />
      </details>
    </Card>
  );
}
