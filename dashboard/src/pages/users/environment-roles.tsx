import { useState } from 'react';
import { callApi } from '../../api/client.ts';
import { useEnvironments } from '../../api/environment.ts';
import type { User } from '../../api/types.ts';
import { ALL_BRANCHES, scopeLabel } from '../../lib/environment-scope.ts';
import { Select } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { useAction } from '../../ui/use-action.ts';
import { ROLES, type Role } from './roles.ts';

/** The roles that replace the user's role in single environments. */
export function EnvironmentRoles({ user, onClose }: { user: User; onClose(): void }) {
  const [roles, setRoles] = useState<Readonly<Record<string, Role>>>(user.environment_roles);
  const names = useEnvironments().map(({ name }) => name);
  const save = useAction({
    run: () => callApi<User>(`/v1/users/${user.id}`, { method: 'PATCH', body: { environment_roles: roles } }),
    successMessage: `Roles of ${user.email} saved`,
    invalidates: 'users',
    onSuccess: onClose,
    showsError: true,
  });
  return (
    <FormDialog
      title={`Roles of ${user.email} in environments`}
      submitLabel="Save"
      busy={save.isPending}
      error={save.error}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      {[...new Set([...names, ALL_BRANCHES, ...Object.keys(user.environment_roles)])].map((name) => (
        <Select
          key={name}
          label={scopeLabel(name)}
          value={roles[name] ?? ''}
          onChange={({ target }) => {
            const { [name]: _, ...others } = roles;
            setRoles(target.value === '' ? others : { ...others, [name]: target.value as Role });
          }}
        >
          <option value="">as elsewhere: {user.role}</option>
          {ROLES.map(([role]) => (
            <option key={role} value={role}>
              {role === 'none' ? 'none: hidden' : role}
            </option>
          ))}
        </Select>
      ))}
    </FormDialog>
  );
}
