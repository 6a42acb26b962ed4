import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { callApi } from '../../api/client.ts';
import { useCurrentUser, useHasAccess } from '../../api/current-user.ts';
import type { User } from '../../api/types.ts';
import { AdminOnly } from '../../ui/admin-only.tsx';
import { Button } from '../../ui/button.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Page } from '../../ui/page.tsx';
import { SecretDialog, Snippet } from '../../ui/secret-dialog.tsx';
import { columnsFor } from './columns.tsx';
import { InviteForm } from './invite-form.tsx';
import { OwnPassword } from './own-password.tsx';
import type { PasswordLink } from './password-link.ts';

export default function MembersPage() {
  const me = useCurrentUser();
  const may = useHasAccess('admin');
  const [inviting, setInviting] = useState(false);
  const [link, setLink] = useState<PasswordLink>();
  return (
    <Page
      title="Members"
      description="Who may sign in, and as what."
      actions={
        may && (
          <Button variant="primary" icon="plus" onClick={() => setInviting(true)}>
            Invite somebody
          </Button>
        )
      }
    >
      <div className="space-y-8">
        <AdminOnly title="Only admins see who else may sign in">
          <Members onLink={setLink} />
        </AdminOnly>
        {me?.kind === 'user' && <OwnPassword email={me.name} />}
      </div>
      {inviting && <InviteForm onClose={() => setInviting(false)} onLink={setLink} />}
      <SecretDialog
        title="A link to choose a password"
        secret={link?.url}
        label="Copy the link"
        warning="Copy it now: it is shown this once. It works once, within 24 hours, for whoever has it."
        onClose={() => setLink(undefined)}
      >
        {link && (
          <Snippet
            what={`Nothing was sent: give it to ${link.email} yourself`}
            line={`Choose your password for Tidegate within 24 hours: ${link.url}`}
          />
        )}
      </SecretDialog>
    </Page>
  );
}

function Members({ onLink }: { onLink(link: PasswordLink): void }) {
  const me = useCurrentUser();
  const { data, error, refetch } = useQuery({
    queryKey: ['users'],
    queryFn: ({ signal }) => callApi<User[]>('/v1/users', { signal }),
  });
  const columns = useMemo(() => columnsFor(me?.id, onLink), [me?.id, onLink]);
  if (error && !data) return <ErrorAlert error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading />;
  if (data.data.length === 0) {
    return (
      <EmptyState title="Nobody yet">
        In dev mode nobody signs in. Outside of it, the first admin is made by the link that web writes into its log, or
        by the settings ADMIN_EMAIL and ADMIN_PASSWORD.
      </EmptyState>
    );
  }
  return <DataTable label="Members" columns={columns} rows={data.data} rowKey={({ id }) => id} rowHeight={56} />;
}
