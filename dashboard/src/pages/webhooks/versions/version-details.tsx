import { getRouteApi, Link } from '@tanstack/react-router';
import { useHasAccess } from '../../../api/current-user.ts';
import type { Webhook, WebhookVersionDetails } from '../../../api/types.ts';
import { fieldLabel, useVersion } from '../../../features/webhooks/versions.ts';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import { Icon } from '../../../ui/icon.tsx';
import { Loading } from '../../../ui/loading.tsx';
import { Card, DescriptionItem, DescriptionList } from '../../../ui/page.tsx';
import { SegmentedLinks } from '../../../ui/segmented-links.tsx';
import { Time } from '../../../ui/time.tsx';
import { VersionDiff } from './diff.tsx';
import { LiveBadge } from './live-badge.tsx';
import { RestoreButton } from './restore-dialog.tsx';

const route = getRouteApi('/webhooks/$id');

/** A version, what changed in it, and the way back to it. */
export function VersionDetails({ webhook, number }: { webhook: Webhook; number: number }) {
  const version = useVersion(webhook.id, number);
  const canWrite = useHasAccess('write');
  return (
    <>
      <div className="mb-4 flex flex-wrap items-center justify-between gap-2">
        <Link
          to="."
          search={(before: object) => ({ ...before, version: undefined, with: undefined }) as never}
          className="inline-flex items-center gap-1 rounded text-muted hover:text-text"
        >
          <Icon name="chevron-left" />
          All versions
        </Link>
        {canWrite && version.data && !version.data.is_live && <RestoreButton webhook={webhook} version={number} />}
      </div>
      {version.isPending && <Loading />}
      {version.isError && <ErrorAlert error={version.error} onRetry={() => void version.refetch()} />}
      {version.data && <Loaded webhook={webhook} version={version.data} />}
    </>
  );
}

function Loaded({ webhook, version }: { webhook: Webhook; version: WebhookVersionDetails }) {
  const { with: chosen = 'before' } = route.useSearch();
  const { version: number, is_live, author, created_at, message, restored_from, changed } = version;
  const other = is_live || chosen === 'before' ? number - 1 : webhook.version;
  const options = [
    { id: 'before', text: 'With the version before' },
    { id: 'live', text: 'With the live version' },
  ];
  return (
    <div className="space-y-5">
      <Card
        title={
          <span className="flex items-center gap-2">
            Version {number}
            {is_live && <LiveBadge />}
          </span>
        }
      >
        <DescriptionList>
          <DescriptionItem term="Saved">
            <Time at={created_at} />
          </DescriptionItem>
          <DescriptionItem term="By">{author?.name ?? 'unknown'}</DescriptionItem>
          <DescriptionItem term="Message">{message ?? '–'}</DescriptionItem>
          <DescriptionItem term="Changed">{changed.map(fieldLabel).join(', ') || '–'}</DescriptionItem>
          {restored_from !== null && <DescriptionItem term="Restored from">Version {restored_from}</DescriptionItem>}
        </DescriptionList>
      </Card>
      <Card
        title="Compared"
        actions={
          !is_live && number > 1 && <SegmentedLinks label="Compared" options={options} current={chosen} param="with" />
        }
      >
        {other === 0 ? (
          <p className="p-4 text-muted">This is the first version.</p>
        ) : (
          // The older one stands first.
          <VersionDiff webhookId={webhook.id} before={Math.min(other, number)} after={Math.max(other, number)} />
        )}
      </Card>
    </div>
  );
}
