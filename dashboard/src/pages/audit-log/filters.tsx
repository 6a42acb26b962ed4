import { getRouteApi } from '@tanstack/react-router';
import { Select, TextField } from '../../ui/field.tsx';
import { TimeFilter } from '../../ui/time-filter.tsx';
import { ACTOR_KINDS } from './columns.tsx';
import { ExportButton } from './export-button.tsx';
import type { Filter } from './matches-filter.ts';

const route = getRouteApi('/audit-log');

/** @param read entries searched so far */
export function Filters({ read, searching }: { read: number; searching: boolean }) {
  const { q, who, from, to } = route.useSearch();
  const navigate = route.useNavigate();
  const set = (change: Filter) =>
    void navigate({ search: (before) => ({ ...before, ...change }) as never, replace: true });
  return (
    <div className="mb-4 grid grid-cols-2 items-end gap-2 sm:grid-cols-[minmax(0,20rem)_auto_auto_1fr]">
      <div className="max-sm:col-span-full">
        <TextField
          label="Search"
          hideLabel
          type="search"
          data-page-search
          placeholder="Name, action, ID or IP address"
          value={q ?? ''}
          onChange={({ target }) => set({ q: target.value || undefined })}
        />
      </div>
      <Select
        label="Actor"
        hideLabel
        value={who ?? ''}
        onChange={({ target }) => set({ who: (target.value || undefined) as Filter['who'] })}
      >
        <option value="">All actors</option>
        {Object.entries(ACTOR_KINDS).map(([kind, label]) => (
          <option key={kind} value={kind}>
            {label}
          </option>
        ))}
      </Select>
      <TimeFilter what="Changed" from={from} to={to} onChange={set} />
      <div className="max-sm:col-span-full sm:justify-self-end">
        <ExportButton filter={{ q, who, from, to }} />
      </div>
      {(q || who || from || to) && (
        <p role={searching ? undefined : 'status'} className="col-span-full text-sm text-muted">
          {searching ? 'Searching…' : 'Searched'} {read.toLocaleString()} entries
        </p>
      )}
    </div>
  );
}
