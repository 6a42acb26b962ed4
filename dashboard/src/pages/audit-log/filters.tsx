import { getRouteApi } from '@tanstack/react-router';
import { Select, TextField } from '../../ui/field.tsx';
import { ACTOR_KINDS } from './columns.tsx';

const route = getRouteApi('/audit-log');

/** @param read entries searched so far */
export function Filters({ read, searching }: { read: number; searching: boolean }) {
  const { q, who } = route.useSearch();
  const navigate = route.useNavigate();
  const set = (change: Record<string, string | undefined>) =>
    void navigate({ search: (before) => ({ ...before, ...change }) as never, replace: true });
  return (
    <div className="mb-4 grid grid-cols-[minmax(0,1fr)_auto] items-end gap-2 sm:grid-cols-[minmax(0,24rem)_auto_1fr]">
      <TextField
        label="Search"
        hideLabel
        type="search"
        data-page-search
        placeholder="Name, action, ID or IP address"
        value={q ?? ''}
        onChange={({ target }) => set({ q: target.value || undefined })}
      />
      <Select
        label="Actor"
        hideLabel
        value={who ?? ''}
        onChange={({ target }) => set({ who: target.value || undefined })}
      >
        <option value="">All actors</option>
        {Object.entries(ACTOR_KINDS).map(([kind, label]) => (
          <option key={kind} value={kind}>
            {label}
          </option>
        ))}
      </Select>
      {(q || who) && (
        <p
          role={searching ? undefined : 'status'}
          className="col-span-full self-center text-sm text-muted sm:col-span-1"
        >
          {searching ? 'Searching…' : 'Searched'} {read.toLocaleString()} entries
        </p>
      )}
    </div>
  );
}
