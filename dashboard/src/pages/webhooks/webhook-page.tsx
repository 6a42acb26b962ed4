import { getRouteApi } from '@tanstack/react-router';
import type { Webhook } from '../../api/types.ts';
import { useLiveRequests, useWebhook } from '../../features/webhooks/queries.ts';
import { scopeLabel } from '../../lib/environment-scope.ts';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Page } from '../../ui/page.tsx';
import { Badge } from '../../ui/status-badge.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { EndpointUrl } from './endpoint-url.tsx';
import { RequestsTab } from './requests/requests-tab.tsx';
import { SettingsTab } from './settings/settings-tab.tsx';
import { UnsavedChangesGuard } from './workbench/unsaved-changes-guard.tsx';
import { useDraft } from './workbench/use-draft.ts';
import { useSample } from './workbench/use-sample.ts';
import { Workbench } from './workbench/workbench.tsx';

const route = getRouteApi('/webhooks/$id');
const TABS = [
  ['transform', 'Transform'],
  ['requests', 'Requests'],
  ['settings', 'Settings'],
] as const;

export default function WebhookPage() {
  const { id } = route.useParams();
  const webhook = useWebhook(id);
  useLiveRequests(id);
  if (webhook.isPending) return <Loading />;
  if (webhook.isError)
    return (
      <Page title="Webhook">
        <ErrorAlert error={webhook.error} onRetry={() => void webhook.refetch()} />
      </Page>
    );
  return <Opened key={id} webhook={webhook.data} />;
}

/** Holds draft and sample, so that switching tabs keeps them. */
function Opened({ webhook }: { webhook: Webhook }) {
  const { tab = 'transform' } = route.useSearch();
  const draft = useDraft(webhook);
  const sample = useSample(webhook);
  return (
    <Page
      title={webhook.name}
      description={
        <span className="flex flex-wrap items-center gap-2">
          <span>Environment: {scopeLabel(webhook.environment)}</span>
          {webhook.paused_at && (
            <Badge tone="warn" icon="pause">
              paused
            </Badge>
          )}
        </span>
      }
    >
      <EndpointUrl webhook={webhook} />
      <Tabs label="Webhook sections" tabs={TABS} current={tab} />
      {tab === 'transform' && <Workbench webhook={webhook} draft={draft} sample={sample} />}
      {tab === 'requests' && <RequestsTab webhook={webhook} draft={draft} />}
      {tab === 'settings' && <SettingsTab webhook={webhook} />}
      <UnsavedChangesGuard dirty={draft.dirty} />
    </Page>
  );
}
