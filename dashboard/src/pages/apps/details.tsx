import { Link } from '@tanstack/react-router';
import { useCurrentUser } from '../../api/current-user.ts';
import { useEnv } from '../../api/environment.ts';
import type { App } from '../../api/types.ts';
import { Card, DescriptionItem, DescriptionList } from '../../ui/page.tsx';
import { Badge } from '../../ui/status-badge.tsx';
import { Time } from '../../ui/time.tsx';
import { SyncStatus } from './sync-status.tsx';

export function AppDetails({ app }: { app: App }) {
  return (
    <Card>
      <DescriptionList>
        <DescriptionItem name="Last registration">
          <SyncStatus sync={app.last_sync} />
        </DescriptionItem>
        <DescriptionItem name="Registered">
          <Time at={app.registered_at} />
        </DescriptionItem>
        <DescriptionItem name="SDK">
          <span className="font-mono text-xs">{app.sdk ?? '–'}</span>
        </DescriptionItem>
        <DescriptionItem name="Framework">{app.framework ?? '–'}</DescriptionItem>
        <DescriptionItem name="Signing">
          <Signing />
        </DescriptionItem>
        <DescriptionItem name="Headers begin with">
          <span className="font-mono text-xs">x-{app.dialect}-</span>
        </DescriptionItem>
        <DescriptionItem name="Functions">{app.function_count}</DescriptionItem>
        <DescriptionItem name="Calls">
          <CallRate slowed={app.slowed} />
        </DescriptionItem>
      </DescriptionList>
    </Card>
  );
}

const SLOWDOWN_REASONS = {
  overload: 'It answers 429, 502, 503 or 504, or not at all',
  errors: 'It answers other 5xx',
  latency: 'It takes much longer than before',
} as const;

/** Whether the workers make as many calls at once as they could. */
function CallRate({ slowed }: Pick<App, 'slowed'>) {
  if (!slowed) {
    return (
      <Badge tone="good" icon="check">
        Not slowed
      </Badge>
    );
  }
  return (
    <Badge
      tone="warn"
      icon="warning"
      title={`${SLOWDOWN_REASONS[slowed.by]}, since ${new Date(slowed.since).toLocaleString()}`}
    >
      Slowed to {slowed.limit} of {slowed.max} at once
    </Badge>
  );
}

/** Which key the app and the service prove themselves to each other with. */
function Signing() {
  const env = useEnv();
  const me = useCurrentUser();
  if (!me) return <span className="text-muted">–</span>;
  if (me.kind === 'dev') {
    return (
      <Badge tone="warn" icon="warning" title="In dev mode nobody is asked for a signature">
        Unsigned: dev mode
      </Badge>
    );
  }
  return (
    <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
      <Badge tone="good" icon="key" title={`Calls and registrations are signed with the key of ${env}`}>
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
