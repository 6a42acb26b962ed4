import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { callApi } from '../../api/client.ts';
import { useCurrentUser } from '../../api/current-user.ts';
import type { User } from '../../api/types.ts';
import { Button } from '../../ui/button.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Page } from '../../ui/page.tsx';
import { SecretDialog, Snippet } from '../../ui/secret-dialog.tsx';
import { columnsFor } from './columns.tsx';
import type { PasswordLink } from './password-link.ts';
import { UserForm } from './user-form.tsx';

export default function UsersPage() {
  const [inviting, setInviting] = useState(false);
  const [link, setLink] = useState<PasswordLink>();
  return (
    <Page
      title="Users"
      description="People who can sign in, and their roles."
      actions={
        <Button variant="primary" icon="plus" onClick={() => setInviting(true)}>
          Invite user
        </Button>
      }
    >
      <UserList onLink={setLink} />
      {inviting && <UserForm onClose={() => setInviting(false)} onLink={setLink} />}
      <SecretDialog
        title="Password link"
        secret={link?.url}
        label="Copy link"
        warning="Copy it now. It is shown only once and works once, within 24 hours, for anyone who has it."
        onClose={() => setLink(undefined)}
      >
        {link && (
          <Snippet
            label={`Send it to ${link.email} yourself. No email was sent.`}
            text={`Set your Tidegate password within 24 hours: ${link.url}`}
          />
        )}
      </SecretDialog>
    </Page>
  );
}

function UserList({ onLink }: { onLink(link: PasswordLink): void }) {
  const me = useCurrentUser();
  const { data, error, refetch } = useQuery({
    queryKey: ['users'],
    queryFn: ({ signal }) => callApi<User[]>('/v1/users', { signal }),
  });
  const [changed, setChanged] = useState<User>();
  const columns = useMemo(() => columnsFor(me?.id, onLink, setChanged), [me?.id, onLink]);
  if (error && !data) return <ErrorAlert error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading />;
  if (data.data.length === 0) {
    return (
      <EmptyState title="No users yet">
        Dev mode has no sign-in. Otherwise, create the first admin with the link in the log of the web process, or with
        the settings ADMIN_EMAIL and ADMIN_PASSWORD.
      </EmptyState>
    );
  }
  return (
    <>
      <DataTable label="Users" columns={columns} rows={data.data} rowKey={({ id }) => id} rowHeight={56} />
      {changed && <UserForm user={changed} onClose={() => setChanged(undefined)} />}
    </>
  );
}
