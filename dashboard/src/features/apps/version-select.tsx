import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Select } from '../../ui/field.tsx';
import { useVersions } from './queries.ts';

interface VersionSelectProps {
  app: string;
  from: string | null;
  /** '': the active one. */
  value: string;
  onChange(version: string): void;
}

/** The other versions of an app, and whichever is active. */
export function VersionSelect({ app, from, value, onChange }: VersionSelectProps) {
  const { data, error } = useVersions(app);
  if (error) return <ErrorAlert error={error} />;
  const others = data?.data.filter(({ version }) => version !== from) ?? [];
  return (
    <Select
      label="Version"
      hint="Its code must plan the same steps up to where the runs are"
      value={value}
      onChange={({ target }) => onChange(target.value)}
    >
      <option value="">Whichever is active: no longer pinned</option>
      {others.map(({ version, state }) => (
        <option key={version} value={version}>
          {version} ({state})
        </option>
      ))}
    </Select>
  );
}
