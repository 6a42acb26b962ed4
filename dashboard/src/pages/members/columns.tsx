import { callApi } from '../../api/client.ts';
import type { User } from '../../api/types.ts';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { Select } from '../../ui/field.tsx';
import { Badge } from '../../ui/status-badge.tsx';
import { Time } from '../../ui/time.tsx';
import { useDeed } from '../../ui/use-action.ts';
import type { PasswordLink } from './password-link.ts';
import { ROLES, type Role } from './roles.ts';

/** @param myId of whoever is looking */
export function columnsFor(myId: string | undefined, onLink: (link: PasswordLink) => void): Column<User>[] {
  return [
    {
      id: 'email',
      header: 'Member',
      width: 'minmax(0, 2fr)',
      cell: ({ id, email, active }) => (
        <>
          <div className="truncate font-medium" title={email}>
            {email}
          </div>
          <div className="flex gap-2 text-xs text-muted">
            {id === myId && <span>you</span>}
            {!active && <span className="md:hidden">invited</span>}
          </div>
        </>
      ),
    },
    { id: 'role', header: 'Role', width: '7rem', cell: (user) => <RoleOf user={user} /> },
    {
      id: 'state',
      header: 'State',
      width: '7rem',
      hideOnMobile: true,
      cell: ({ active }) => (
        <Badge tone={active ? 'good' : 'warn'} icon={active ? 'check' : 'clock'}>
          {active ? 'active' : 'invited'}
        </Badge>
      ),
    },
    {
      id: 'since',
      header: 'Since',
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

function RoleOf({ user: { id, email, role } }: { user: User }) {
  const change = useDeed({
    act: (next: Role) => callApi<User>(`/v1/users/${id}`, { method: 'PUT', body: { role: next } }),
    told: (next) => `${email} is ${next} from now on`,
    changes: 'users',
  });
  return (
    <Select
      label={`Role of ${email}`}
      hideLabel
      value={change.isPending ? change.variables : role}
      disabled={change.isPending}
      onChange={({ target }) => change.mutate(target.value as Role)}
    >
      {ROLES.map(([name]) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </Select>
  );
}

function Actions({
  user: { id, email, active },
  isMe,
  onLink,
}: {
  user: User;
  isMe: boolean;
  onLink(link: PasswordLink): void;
}) {
  const makeLink = useDeed({
    act: () => callApi<{ set_password_url: string }>(`/v1/users/${id}/password-link`, { method: 'POST' }),
    changes: 'users',
    onDone: ({ data }) => onLink({ email, url: data.set_password_url }),
  });
  const remove = useDeed({
    act: () => callApi(`/v1/users/${id}`, { method: 'DELETE' }),
    told: `${email} is removed`,
    changes: 'users',
  });
  return (
    <span className="flex items-center justify-end gap-1">
      <Button
        variant="quiet"
        icon="key"
        className="max-sm:px-2"
        busy={makeLink.isPending}
        title={active ? 'A link to choose a new password' : 'Another link to choose a password'}
        onClick={() => makeLink.mutate()}
      >
        <span className="max-sm:sr-only">Password link</span>
      </Button>
      {!isMe && (
        <ConfirmButton
          title={`Remove ${email}?`}
          text="All their sessions are over at once, and they cannot sign in again unless they are invited anew. What they made stays."
          confirmLabel="Remove them"
          icon="trash"
          onConfirm={() => remove.mutateAsync().catch(() => {})}
        >
          <span className="max-sm:sr-only">Remove</span>
        </ConfirmButton>
      )}
    </span>
  );
}
