import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { ask } from '../../api/client.ts';
import { useMay, useMe } from '../../api/current-user.ts';
import type { User } from '../../api/types.ts';
import { NeedsAdmin } from '../../ui/admin-only.tsx';
import { Button } from '../../ui/button.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { Empty } from '../../ui/empty-state.tsx';
import { Problem } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Page } from '../../ui/page.tsx';
import { Paste, ShownOnce } from '../../ui/secret-dialog.tsx';
import { columnsFor } from './columns.tsx';
import { InviteForm } from './invite-form.tsx';
import { OwnPassword } from './own-password.tsx';
import type { PasswordLink } from './password-link.ts';

export default function MembersPage() {
  const me = useMe();
  const may = useMay('admin');
  const [inviting, setInviting] = useState(false);
  const [link, setLink] = useState<PasswordLink>();
  return (
    <Page
      title="Members"
      lead="Who may sign in, and as what."
      actions={
        may && (
          <Button look="primary" icon="plus" onClick={() => setInviting(true)}>
            Invite somebody
          </Button>
        )
      }
    >
      <div className="space-y-8">
        <NeedsAdmin title="Only admins see who else may sign in">
          <Members onLink={setLink} />
        </NeedsAdmin>
        {me?.kind === 'user' && <OwnPassword email={me.name} />}
      </div>
      {inviting && <InviteForm onClose={() => setInviting(false)} onLink={setLink} />}
      <ShownOnce
        title="A link to choose a password"
        secret={link?.url}
        label="Copy the link"
        warning="Copy it now: it is shown this once. It works once, within 24 hours, for whoever has it."
        onClose={() => setLink(undefined)}
      >
        {link && (
          <Paste
            what={`Nothing was sent: give it to ${link.email} yourself`}
            line={`Choose your password for Tidegate within 24 hours: ${link.url}`}
          />
        )}
      </ShownOnce>
    </Page>
  );
}

function Members({ onLink }: { onLink(link: PasswordLink): void }) {
  const me = useMe();
  const { data, error, refetch } = useQuery({
    queryKey: ['users'],
    queryFn: ({ signal }) => ask<User[]>('/v1/users', { signal }),
  });
  const columns = useMemo(() => columnsFor(me?.id, onLink), [me?.id, onLink]);
  if (error && !data) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading />;
  if (data.data.length === 0) {
    return (
      <Empty title="Nobody yet">
        In dev mode nobody signs in. Outside of it, the first admin is made by the link that web writes into its log, or
        by the settings ADMIN_EMAIL and ADMIN_PASSWORD.
      </Empty>
    );
  }
  return <DataTable label="Members" columns={columns} rows={data.data} rowKey={({ id }) => id} rowHeight={56} />;
}
