import { useHasAccess } from '../../../api/current-user.ts';
import type { Webhook } from '../../../api/types.ts';
import { DeleteCard } from './delete-card.tsx';
import { FilterCard } from './filter-card.tsx';
import { LimitsCard } from './limits-card.tsx';
import { AccessListCard } from './list-card.tsx';
import { NameCard } from './name-card.tsx';
import { OrderCard } from './order-card.tsx';
import { PauseCard } from './pause-card.tsx';
import { ProviderCard } from './provider-card.tsx';
import { ReconciliationCard } from './reconciliation-card.tsx';
import { SecretsCard } from './secrets-card.tsx';
import { UrlCard } from './url-card.tsx';

export default function SettingsTab({ webhook }: { webhook: Webhook }) {
  const canWrite = useHasAccess('write');
  return (
    <div className="max-w-3xl space-y-5">
      {!canWrite && <p className="text-muted">Changing a webhook requires write access.</p>}
      <NameCard webhook={webhook} canWrite={canWrite} />
      <ProviderCard webhook={webhook} canWrite={canWrite} />
      <SecretsCard webhook={webhook} canWrite={canWrite} />
      <ReconciliationCard key={webhook.provider} webhook={webhook} canWrite={canWrite} />
      <FilterCard webhook={webhook} canWrite={canWrite} />
      <AccessListCard
        webhook={webhook}
        field="event_names"
        title="Event names"
        description="Events to accept from the transform. Others are filtered out; their provider gets a 200 response."
        placeholder={'github/push\ngithub/issues.*'}
        hint="One per line. A trailing * matches anything."
        canWrite={canWrite}
      />
      <AccessListCard
        webhook={webhook}
        field="ip_addresses"
        title="IP addresses"
        description="Clients that may send requests. Others get a 403 response."
        placeholder={'192.0.2.7\n2001:db8::/32'}
        hint="One per line: IPv4 or IPv6 addresses or CIDR ranges."
        canWrite={canWrite}
      />
      <LimitsCard key={webhook.version} webhook={webhook} canWrite={canWrite} />
      <OrderCard key={`order ${webhook.version}`} webhook={webhook} canWrite={canWrite} />
      <PauseCard webhook={webhook} canWrite={canWrite} />
      <UrlCard webhook={webhook} canWrite={canWrite} />
      <DeleteCard webhook={webhook} canWrite={canWrite} />
    </div>
  );
}
