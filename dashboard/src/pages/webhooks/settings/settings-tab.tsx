import { useHasAccess } from '../../../api/current-user.ts';
import type { Webhook } from '../../../api/types.ts';
import { DeleteCard } from './delete-card.tsx';
import { AccessListCard } from './list-card.tsx';
import { NameCard } from './name-card.tsx';
import { PauseCard } from './pause-card.tsx';
import { UrlCard } from './url-card.tsx';

export function SettingsTab({ webhook }: { webhook: Webhook }) {
  const mayWrite = useHasAccess('write');
  return (
    <div className="max-w-3xl space-y-5">
      {!mayWrite && <p className="text-muted">Changing a webhook needs write access.</p>}
      <NameCard webhook={webhook} mayWrite={mayWrite} />
      <AccessListCard
        webhook={webhook}
        field="event_names"
        title="Event names"
        lead="Which of the events that the transform makes are taken. Others are filtered out, and their provider told 200."
        placeholder={'github/push\ngithub/issues.*'}
        hint="One a line; a * at the end stands for anything."
        mayWrite={mayWrite}
      />
      <AccessListCard
        webhook={webhook}
        field="ip_addresses"
        title="IP addresses"
        lead="Which senders are let in. Others are answered 403."
        placeholder={'192.0.2.7\n2001:db8::/32'}
        hint="One a line: addresses or CIDR ranges, IPv4 or IPv6."
        mayWrite={mayWrite}
      />
      <PauseCard webhook={webhook} mayWrite={mayWrite} />
      <UrlCard webhook={webhook} mayWrite={mayWrite} />
      <DeleteCard webhook={webhook} mayWrite={mayWrite} />
    </div>
  );
}
