import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import type { Webhook, WebhookVersion } from '../../../api/types.ts';
import { fieldLabel, useVersions } from '../../../features/webhooks/versions.ts';
import type { Column } from '../../../ui/data-table.tsx';
import { ListTable } from '../../../ui/list-table.tsx';
import { Time } from '../../../ui/time.tsx';
import { LiveBadge } from './live-badge.tsx';
import { VersionDetails } from './version-details.tsx';

const route = getRouteApi('/webhooks/$id');

/** The versions of the webhook, or the version that the URL names. */
export default function VersionsTab({ webhook }: { webhook: Webhook }) {
  const { version } = route.useSearch();
  return version === undefined ? <List webhook={webhook} /> : <VersionDetails webhook={webhook} number={version} />;
}

function List({ webhook }: { webhook: Webhook }) {
  const navigate = useNavigate();
  const versions = useVersions(webhook.id);
  return (
    <>
      <p className="mb-3 text-sm text-muted">
        Each save that changes how requests are handled is a version. The last 100 are kept. Secrets are no part of
        them.
      </p>
      <ListTable
        list={versions}
        label="Versions"
        columns={COLUMNS}
        rowKey={({ version }) => String(version)}
        rowHeight={52}
        onOpen={({ version }) =>
          void navigate({ to: '.', search: (before: object) => ({ ...before, version }) as never })
        }
      />
    </>
  );
}

const COLUMNS: Column<WebhookVersion>[] = [
  {
    id: 'version',
    header: 'Version',
    width: '7rem',
    cell: ({ version, is_live }) => (
      <span className="flex items-center gap-2">
        <Link
          to="."
          search={(before: object) => ({ ...before, version }) as never}
          aria-label={`Version ${version}`}
          className="font-medium hover:underline"
        >
          {version}
        </Link>
        {is_live && <LiveBadge />}
      </span>
    ),
  },
  { id: 'message', header: 'Message', width: 'minmax(4rem, 3fr)', cell: (version) => <Message version={version} /> },
  {
    id: 'changed',
    header: 'Changed',
    width: 'minmax(6rem, 2fr)',
    hideOnMobile: true,
    cell: ({ changed }) => <span className="text-sm text-muted">{changed.map(fieldLabel).join(', ')}</span>,
  },
  {
    id: 'author',
    header: 'By',
    width: 'minmax(5rem, 1fr)',
    hideOnMobile: true,
    cell: ({ author }) => <span className="block truncate">{author?.name ?? 'unknown'}</span>,
  },
  { id: 'at', header: 'Saved', width: '5.5rem', align: 'right', cell: ({ created_at }) => <Time at={created_at} /> },
];

function Message({ version: { message, restored_from } }: { version: WebhookVersion }) {
  return (
    <span className="flex min-w-0 flex-wrap items-center gap-x-2">
      {message ? <span className="truncate">{message}</span> : restored_from === null && <span>–</span>}
      {restored_from !== null && <span className="text-xs text-muted">restored from version {restored_from}</span>}
    </span>
  );
}
