import { useState } from 'react';
import { callApi } from '../../api/client.ts';
import { useEnvironments } from '../../api/environment.ts';
import type { User } from '../../api/types.ts';
import { ALL_BRANCHES, scopeLabel } from '../../lib/environment-scope.ts';
import { Select, TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { useAction } from '../../ui/use-action.ts';
import type { PasswordLink } from './password-link.ts';
import { ROLES, type Role } from './roles.ts';

type Saved = User & { set_password_url?: string };

/** Invites a user, or changes the roles of one.
 *  @param user absent: a new one
 *  @param onLink receives the link with which an invited user sets a password */
export function UserForm({
  user,
  onClose,
  onLink,
}: {
  user?: User;
  onClose(): void;
  onLink?(link: PasswordLink): void;
}) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>(user?.role ?? 'member');
  const [environmentRoles, setEnvironmentRoles] = useState<EnvironmentRoles>(user?.environment_roles ?? {});
  const roles = { role, environment_roles: environmentRoles };
  const save = useAction({
    run: () =>
      user
        ? callApi<Saved>(`/v1/users/${user.id}`, { method: 'PATCH', body: roles })
        : callApi<Saved>('/v1/users', { method: 'POST', body: { email, ...roles } }),
    ...(user && { successMessage: `Roles of ${user.email} saved` }),
    invalidates: 'users',
    onSuccess: ({ data }) => {
      onClose();
      if (data.set_password_url) onLink?.({ email: data.email, url: data.set_password_url });
    },
    showsError: true,
  });
  return (
    <FormDialog
      title={user ? `Roles of ${user.email}` : 'Invite user'}
      submitLabel={user ? 'Save' : 'Create link'}
      busy={save.isPending}
      error={save.error}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      {!user && (
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
      )}
      <Select label="Role" value={role} onChange={({ target }) => setRole(target.value as Role)}>
        {ROLES.map(([name, meaning]) => (
          <option key={name} value={name}>
            {name}: {meaning}
          </option>
        ))}
      </Select>
      <EnvironmentRoleFields role={role} given={environmentRoles} onChange={setEnvironmentRoles} />
    </FormDialog>
  );
}

type EnvironmentRoles = Readonly<Record<string, Role>>;

/** The roles that replace the role in single environments. */
function EnvironmentRoleFields({
  role,
  given,
  onChange,
}: {
  role: Role;
  given: EnvironmentRoles;
  onChange(roles: EnvironmentRoles): void;
}) {
  const names = useEnvironments().map(({ name }) => name);
  return (
    <fieldset className="grid gap-4 sm:grid-cols-2">
      <legend className="mb-2 text-sm text-muted">Other roles in single environments</legend>
      {[...new Set([...names, ALL_BRANCHES, ...Object.keys(given)])].map((name) => (
        <Select
          key={name}
          label={scopeLabel(name)}
          value={given[name] ?? ''}
          onChange={({ target }) => {
            const { [name]: _, ...others } = given;
            onChange(target.value === '' ? others : { ...others, [name]: target.value as Role });
          }}
        >
          <option value="">as elsewhere: {role}</option>
          {ROLES.map(([each]) => (
            <option key={each} value={each}>
              {each === 'none' ? 'none: hidden' : each}
            </option>
          ))}
        </Select>
      ))}
    </fieldset>
  );
}
