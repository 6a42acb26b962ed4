import { callApi } from '../../api/client.ts';
import type { User } from '../../api/types.ts';
import { rolesText } from '../../lib/roles-text.ts';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { Badge } from '../../ui/status-badge.tsx';
import { Time } from '../../ui/time.tsx';
import { useAction } from '../../ui/use-action.ts';
import type { PasswordLink } from './password-link.ts';

/** @param myId of the signed-in user */
export function columnsFor(
  myId: string | undefined,
  onLink: (link: PasswordLink) => void,
  onRoles: (user: User) => void,
): Column<User>[] {
  return [
    {
      id: 'email',
      header: 'User',
      width: 'minmax(0, 2fr)',
      cell: (user) => {
        const notes = [...(user.id === myId ? ['you'] : []), ...waysOf(user)].join(', ');
        return (
          <>
            <div className="truncate font-medium" title={user.email}>
              {user.email}
            </div>
            <div className="flex gap-2 text-xs text-muted">
              <span className="truncate" title={notes}>
                {notes}
              </span>
              {!user.active && <span className="md:hidden">invited</span>}
            </div>
          </>
        );
      },
    },
    {
      id: 'roles',
      header: 'Roles',
      width: 'minmax(0, 1.2fr)',
      cell: (user) => (
        <Button variant="ghost" className="max-w-full max-sm:px-1" onClick={() => onRoles(user)}>
          <span className="sr-only">Change the roles of {user.email}:</span>
          <span className="truncate">{rolesText(user)}</span>
        </Button>
      ),
    },
    {
      id: 'status',
      header: 'Status',
      width: '7rem',
      hideOnMobile: true,
      cell: ({ active }) => (
        <Badge tone={active ? 'good' : 'warn'} icon={active ? 'check' : 'clock'}>
          {active ? 'active' : 'invited'}
        </Badge>
      ),
    },
    {
      id: 'created',
      header: 'Created',
      width: '6rem',
      hideOnMobile: true,
      cell: ({ created_at }) => <Time at={created_at} />,
    },
    {
      id: 'actions',
      header: '',
      width: 'clamp(5rem, 22vw, 17rem)',
      align: 'right',
      cell: (user) => <Actions user={user} isMe={user.id === myId} onLink={onLink} />,
    },
  ];
}

const SECOND_FACTORS = { totp: 'app code', passkey: 'passkey' };

/** By what the user signs in. */
function waysOf({ has_password, providers, second_factors }: User): string[] {
  if (!has_password) return providers;
  const second = second_factors.map((kind) => SECOND_FACTORS[kind]).join(' or ');
  return [...providers, second ? `password and ${second}` : 'password only'];
}

function Actions({
  user: { id, email, active, second_factors },
  isMe,
  onLink,
}: {
  user: User;
  isMe: boolean;
  onLink(link: PasswordLink): void;
}) {
  const createLink = useAction({
    run: () => callApi<{ set_password_url: string }>(`/v1/users/${id}/password-link`, { method: 'POST' }),
    invalidates: 'users',
    onSuccess: ({ data }) => onLink({ email, url: data.set_password_url }),
  });
  const reset = useAction({
    run: () => callApi(`/v1/users/${id}/second-factors`, { method: 'DELETE' }),
    successMessage: `Second factors of ${email} reset`,
    invalidates: 'users',
  });
  const remove = useAction({
    run: () => callApi(`/v1/users/${id}`, { method: 'DELETE' }),
    successMessage: `${email} removed`,
    invalidates: 'users',
  });
  return (
    <span className="flex items-center justify-end gap-1">
      <Button
        variant="ghost"
        icon="key"
        className="max-sm:px-2"
        busy={createLink.isPending}
        title={active ? 'Create a link to reset the password' : 'Create another link to set a password'}
        onClick={() => createLink.mutate()}
      >
        <span className="max-sm:sr-only">Password link</span>
      </Button>
      {!isMe && second_factors.length > 0 && (
        <ConfirmButton
          variant="ghost"
          title={`Reset the second factors of ${email}?`}
          text="Removes their authenticator app, passkeys and recovery codes, and ends all their sessions. Until they set up another second factor, their password alone signs in: make sure that it is they who ask."
          confirmLabel="Reset"
          icon="shield"
          onConfirm={() => reset.mutateAsync().catch(() => {})}
        >
          <span className="sr-only">Reset second factors</span>
        </ConfirmButton>
      )}
      {!isMe && (
        <ConfirmButton
          title={`Remove ${email}?`}
          text="Ends all their sessions. They cannot sign in again unless you invite them again. Their webhooks, keys and other resources remain."
          confirmLabel="Remove"
          icon="trash"
          onConfirm={() => remove.mutateAsync().catch(() => {})}
        >
          <span className="max-sm:sr-only">Remove</span>
        </ConfirmButton>
      )}
    </span>
  );
}
