import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import type { Webhook } from '../../api/types.ts';
import { useLiveIssues, useOpenIssues } from '../../features/webhooks/issues.ts';
import { useProviders } from '../../features/webhooks/providers.ts';
import { useLiveRequests, useWebhook } from '../../features/webhooks/queries.ts';
import { scopeLabel } from '../../lib/environment-scope.ts';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Page } from '../../ui/page.tsx';
import { Badge } from '../../ui/status-badge.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Completeness } from './completeness.tsx';
import { EndpointUrl } from './endpoint-url.tsx';
import { ProviderName } from './provider-name.tsx';
import { UnsavedChangesGuard } from './workbench/unsaved-changes-guard.tsx';
import { useDraft } from './workbench/use-draft.ts';
import { useSample } from './workbench/use-sample.ts';

const route = getRouteApi('/webhooks/$id');
const SetupTab = lazy(() => import('./setup/setup-tab.tsx'));
const Workbench = lazy(() => import('./workbench/workbench.tsx'));
const RequestsTab = lazy(() => import('./requests/requests-tab.tsx'));
const IssuesTab = lazy(() => import('./issues/issues-tab.tsx'));
const VersionsTab = lazy(() => import('./versions/versions-tab.tsx'));
const SettingsTab = lazy(() => import('./settings/settings-tab.tsx'));
const SETUP = ['setup', 'Setup'] as const;

/** @param open issues */
function tabsOf(webhook: Webhook, open: number) {
  return [
    ...(webhook.provider === null ? [] : [SETUP]),
    ['transform', 'Transform'],
    ['requests', 'Requests'],
    ['issues', open === 0 ? 'Issues' : `Issues (${open} open)`],
    ['versions', 'Versions'],
    ['settings', 'Settings'],
  ] as const;
}

export default function WebhookPage() {
  const { id } = route.useParams();
  const webhook = useWebhook(id);
  useLiveRequests(id);
  useLiveIssues();
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
  const { tab: chosen = 'transform' } = route.useSearch();
  const tab = chosen === 'setup' && webhook.provider === null ? 'transform' : chosen;
  const open = useOpenIssues().data?.byWebhook.get(webhook.id) ?? 0;
  const provider = useProviders().data?.find(({ id }) => id === webhook.provider);
  const draft = useDraft(webhook);
  const sample = useSample(webhook);
  return (
    <Page
      title={webhook.name}
      description={
        <span className="flex flex-wrap items-center gap-2">
          <span>Environment: {scopeLabel(webhook.environment)}</span>
          {webhook.provider !== null && (
            <span className="inline-flex min-w-0 gap-1">
              Provider: <ProviderName webhook={webhook} provider={provider} />
            </span>
          )}
          {webhook.paused_at && (
            <Badge tone="warn" icon="pause">
              paused
            </Badge>
          )}
        </span>
      }
    >
      <EndpointUrl webhook={webhook} />
      <Completeness webhook={webhook} />
      <Tabs label="Webhook sections" tabs={tabsOf(webhook, open)} current={tab} />
      <Suspense fallback={<Loading />}>
        {tab === 'setup' && <SetupTab webhook={webhook} />}
        {tab === 'transform' && <Workbench webhook={webhook} draft={draft} sample={sample} />}
        {tab === 'requests' && <RequestsTab webhook={webhook} draft={draft} />}
        {tab === 'issues' && <IssuesTab webhook={webhook} />}
        {tab === 'versions' && <VersionsTab webhook={webhook} />}
        {tab === 'settings' && <SettingsTab webhook={webhook} />}
      </Suspense>
      <UnsavedChangesGuard dirty={draft.dirty} />
    </Page>
  );
}
