import { Link } from '@tanstack/react-router';
import { useCurrentUser } from '../../api/current-user.ts';
import { useEnv } from '../../api/environment.ts';
import type { App } from '../../api/types.ts';
import { parseSdk } from '../../features/apps/sdk.ts';
import { Card, DescriptionItem, DescriptionList } from '../../ui/page.tsx';
import { Badge } from '../../ui/status-badge.tsx';
import { Time } from '../../ui/time.tsx';
import { SyncHistory } from './sync-history.tsx';

export function AppDetails({ app }: { app: App }) {
  return (
    <Card>
      <DescriptionList>
        <DescriptionItem term="Last registration">
          <SyncHistory app={app} />
        </DescriptionItem>
        <DescriptionItem term="Registered">
          <Time at={app.registered_at} />
        </DescriptionItem>
        <DescriptionItem term="SDK">
          <Sdk app={app} />
        </DescriptionItem>
        {app.deploy_id !== null && (
          <DescriptionItem term="Build">
            <span className="font-mono text-xs break-all">{app.deploy_id}</span>
          </DescriptionItem>
        )}
        <DescriptionItem term="Framework">{app.framework ?? '–'}</DescriptionItem>
        <DescriptionItem term="Signing">
          <Signing />
        </DescriptionItem>
        <DescriptionItem term="Header prefix">
          <span className="font-mono text-xs">x-{app.dialect}-</span>
        </DescriptionItem>
        <DescriptionItem term="Functions">{app.function_count}</DescriptionItem>
        <DescriptionItem term="Call rate">
          <CallRate slowed={app.slowed} />
        </DescriptionItem>
      </DescriptionList>
    </Card>
  );
}

function Sdk({ app: { sdk, dialect } }: { app: App }) {
  const parsed = parseSdk(sdk);
  if (!parsed) return <span className="font-mono text-xs">{sdk ?? '–'}</span>;
  return (
    <span title={sdk ?? undefined}>
      {dialect === 'inngest' ? 'Inngest' : 'Tidegate'} for {parsed.language}{' '}
      <span className="font-mono text-xs">{parsed.version}</span>
    </span>
  );
}

const SLOWDOWN_REASONS = {
  overload: 'It responds with 429, 502, 503 or 504, or does not respond',
  errors: 'It responds with other 5xx errors',
  latency: 'It responds much more slowly than before',
} as const;

/** Whether the workers limit concurrent calls to the app. */
function CallRate({ slowed }: Pick<App, 'slowed'>) {
  if (!slowed) {
    return (
      <Badge tone="good" icon="check">
        Not limited
      </Badge>
    );
  }
  return (
    <Badge
      tone="warn"
      icon="warning"
      title={`${SLOWDOWN_REASONS[slowed.by]}, since ${new Date(slowed.since).toLocaleString()}`}
    >
      Limited to {slowed.limit} of {slowed.max} concurrent calls
    </Badge>
  );
}

/** How the app and the service authenticate to each other. */
function Signing() {
  const env = useEnv();
  const me = useCurrentUser();
  if (!me) return <span className="text-muted">–</span>;
  if (me.kind === 'dev') {
    return (
      <Badge tone="warn" icon="warning" title="Dev mode requires no signatures">
        Unsigned (dev mode)
      </Badge>
    );
  }
  return (
    <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
      <Badge tone="good" icon="key" title={`Calls and registrations are signed with the signing key of ${env}`}>
        Signed
      </Badge>
      {me.access === 'admin' && (
        <Link to="/keys" search={{ tab: 'signing-keys' } as never} className="text-sm text-accent hover:underline">
          Signing key
        </Link>
      )}
    </span>
  );
}
