import { PRODUCTION } from '../../api/client.ts';
import { useEnvironments } from '../../api/environment.ts';
import type { Environment } from '../../api/types.ts';
import { Select } from '../../ui/field.tsx';

/** How the API names the set of all branch environments. */
export const ALL_BRANCHES = 'branches';

/** What a key can belong to: production, each named environment, and the branches together. */
export function useKeyScopes(): string[] {
  return scopesOf(useEnvironments());
}

function scopesOf(environments: Environment[]): string[] {
  const named = environments.filter(({ kind, archived_at }) => kind === 'named' && !archived_at);
  return [PRODUCTION, ...named.map(({ name }) => name), ALL_BRANCHES];
}

export function scopeLabel(owner: string): string {
  return owner === ALL_BRANCHES ? 'all branches' : owner;
}

export function ScopeSelect({ value, onChange }: { value: string; onChange(owner: string): void }) {
  const owners = useKeyScopes();
  return (
    <Select
      label="Environment"
      hint="Where its events go. A key of all branches is sent with the branch’s name."
      value={value}
      onChange={({ target }) => onChange(target.value)}
    >
      {owners.map((owner) => (
        <option key={owner} value={owner}>
          {scopeLabel(owner)}
        </option>
      ))}
    </Select>
  );
}
