import { useState } from 'react';
import { callApi } from '../../api/client.ts';
import type { User } from '../../api/types.ts';
import { Select, TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { useAction } from '../../ui/use-action.ts';
import type { PasswordLink } from './password-link.ts';
import { ROLES, type Role } from './roles.ts';

/** @param onLink receives the link with which the invited user sets a password */
export function InviteForm({ onClose, onLink }: { onClose(): void; onLink(link: PasswordLink): void }) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('member');
  const invite = useAction({
    run: () => callApi<User & { set_password_url: string }>('/v1/users', { method: 'POST', body: { email, role } }),
    invalidates: 'users',
    onSuccess: ({ data }) => {
      onClose();
      onLink({ email: data.email, url: data.set_password_url });
    },
    showsError: true,
  });
  return (
    <FormDialog
      title="Invite user"
      submitLabel="Create link"
      busy={invite.isPending}
      error={invite.error}
      onSubmit={() => invite.mutate()}
      onClose={onClose}
    >
      <TextField
        label="Email address"
        hint="The sign-in name. No email is sent."
        type="email"
        autoComplete="off"
        value={email}
        required
        maxLength={254}
        onChange={({ target }) => setEmail(target.value)}
      />
      <Select label="Role" value={role} onChange={({ target }) => setRole(target.value as Role)}>
        {ROLES.map(([name, meaning]) => (
          <option key={name} value={name}>
            {name}: {meaning}
          </option>
        ))}
      </Select>
    </FormDialog>
  );
}
