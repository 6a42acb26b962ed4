import { PRODUCTION } from '../../api/client.ts';
import { useEnvironments } from '../../api/environment.ts';
import type { Environment } from '../../api/types.ts';
import { ALL_BRANCHES, scopeLabel } from '../../lib/environment-scope.ts';
import { Select } from '../../ui/field.tsx';

/** Scopes of a key: production, each named environment, and all branches together. */
export function useKeyScopes(): string[] {
  return scopesOf(useEnvironments());
}

function scopesOf(environments: Environment[]): string[] {
  const named = environments.filter(({ kind, archived_at }) => kind === 'named' && !archived_at);
  return [PRODUCTION, ...named.map(({ name }) => name), ALL_BRANCHES];
}

export function ScopeSelect({ value, onChange }: { value: string; onChange(scope: string): void }) {
  const scopes = useKeyScopes();
  return (
    <Select
      label="Environment"
      hint="The environment of its events. With a key for all branches, senders also name the branch."
      value={value}
      onChange={({ target }) => onChange(target.value)}
    >
      {scopes.map((scope) => (
        <option key={scope} value={scope}>
          {scopeLabel(scope)}
        </option>
      ))}
    </Select>
  );
}
