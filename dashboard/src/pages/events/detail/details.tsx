import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { ListedRun, StoredEvent } from '../../../api/types.ts';
import { CopyButton } from '../../../ui/code-block.tsx';
import { Card, DescriptionItem, DescriptionList } from '../../../ui/page.tsx';
import { Badge, RunStatusBadge } from '../../../ui/status-badge.tsx';
import { Time } from '../../../ui/time.tsx';
import { Source, useWebhooks } from '../event-source.tsx';
import { deduplicationId } from './queries.ts';

/** Everything but the payload. */
export function EventDetails({
  env,
  event,
  runs,
}: {
  env: string;
  event: StoredEvent;
  runs: readonly ListedRun[] | undefined;
}) {
  const webhooks = useWebhooks(env);
  const { internal_id, ts, received_at, source, request_id, duplicates, v, verified } = event;
  const id = deduplicationId(event);
  return (
    <Card className="mb-6">
      <DescriptionList>
        <DescriptionItem term="Received">
          <Time at={received_at} />
        </DescriptionItem>
        <DescriptionItem term="Event time">
          <Time at={ts} />
        </DescriptionItem>
        <DescriptionItem term="Source">
          <span className="flex flex-wrap items-center gap-2">
            <Source source={source} webhooks={webhooks} />
            {verified !== undefined && <Verified verified={verified} />}
          </span>
        </DescriptionItem>
        <DescriptionItem term="Runs">
          <RunSummary runs={runs} />
        </DescriptionItem>
        <DescriptionItem term="Event ID">
          <Mono copy="Copy event ID">{internal_id}</Mono>
        </DescriptionItem>
        <DescriptionItem term="Deduplication ID">{id === null ? <None>none</None> : <Mono>{id}</Mono>}</DescriptionItem>
        <DescriptionItem term="Duplicates ignored">{duplicates === 0 ? <None>none</None> : duplicates}</DescriptionItem>
        <DescriptionItem term="Request ID">
          <Mono>{request_id}</Mono>
        </DescriptionItem>
        {v !== undefined && (
          <DescriptionItem term="Version (v)">
            <Mono>{v}</Mono>
          </DescriptionItem>
        )}
      </DescriptionList>
    </Card>
  );
}

/** Whether the webhook's provider proved that it sent the request. */
function Verified({ verified }: { verified: boolean }) {
  return verified ? (
    <Badge tone="good" icon="shield" title="The provider’s signature was right">
      verified
    </Badge>
  ) : (
    <Badge tone="warn" icon="warning" title="Verification was turned off">
      not verified
    </Badge>
  );
}

function RunSummary({ runs }: { runs: readonly ListedRun[] | undefined }) {
  if (!runs) return <None>…</None>;
  if (runs.length === 0) return <None>none</None>;
  const counts = [...Map.groupBy(runs, ({ status }) => status)];
  return (
    <span className="flex flex-wrap gap-x-3 gap-y-1">
      {counts.map(([status, { length }]) => (
        <Link
          key={status}
          to="."
          search={(before) => ({ ...before, tab: 'runs' as const })}
          className="inline-flex items-center gap-1"
        >
          {length > 1 && `${length} ×`} <RunStatusBadge status={status} />
        </Link>
      ))}
    </span>
  );
}

function Mono({ children, copy }: { children: string; copy?: string }) {
  return (
    <span className="flex items-center gap-1">
      <span className="min-w-0 font-mono text-xs leading-5 break-all">{children}</span>
      {copy && (
        <span className="-my-1.5">
          <CopyButton text={children} label={copy} />
        </span>
      )}
    </span>
  );
}

function None({ children }: { children: ReactNode }) {
  return <span className="text-muted">{children}</span>;
}
