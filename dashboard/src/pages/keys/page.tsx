import { getRouteApi } from '@tanstack/react-router';
import { AdminOnly } from '../../ui/admin-only.tsx';
import { Page } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { ApiKeys } from './api-keys.tsx';
import { EventKeys } from './event-keys.tsx';
import { SigningKeys } from './signing-keys.tsx';

const route = getRouteApi('/keys');

const TABS = [
  ['event-keys', 'Event keys'],
  ['api-keys', 'API keys'],
  ['signing-keys', 'Signing keys'],
] as const;

export default function KeysPage() {
  const { tab = 'event-keys' } = route.useSearch();
  return (
    <Page
      title="Keys"
      description="Senders authenticate with event keys, programs with API keys, and apps with signing keys."
    >
      <Tabs label="Key types" tabs={TABS} current={tab} />
      {tab === 'event-keys' && <EventKeys />}
      {tab === 'api-keys' && (
        <AdminOnly title="API keys require admin access">
          <ApiKeys />
        </AdminOnly>
      )}
      {tab === 'signing-keys' && (
        <AdminOnly title="Signing keys require admin access">
          <SigningKeys />
        </AdminOnly>
      )}
    </Page>
  );
}
