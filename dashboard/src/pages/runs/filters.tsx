import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useApps } from '../../features/apps/queries.ts';
import { ErrorGroupFilter } from '../../features/errors/error-group-filter.tsx';
import { useFunctions } from '../../features/functions/queries.ts';
import { STATUS_TABS } from '../../features/runs/status-filter.ts';
import type { RunFilters } from '../../features/runs/use-runs.ts';
import { SearchBox } from '../../features/search/search-box.tsx';
import { selectedRange } from '../../lib/time-range.ts';
import { Button } from '../../ui/button.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { TimeFilter } from '../../ui/time-filter.tsx';

const route = getRouteApi('/runs');

const TABS = [['all', 'All'] as const, ...STATUS_TABS];

const NO_FILTERS = {
  q: undefined,
  error: undefined,
  fingerprint: undefined,
  function: undefined,
  app: undefined,
  from: undefined,
  to: undefined,
};

/** @param error of the list
 *  @param excludes whether there are schedules or failure handlers, which can be left out */
export function Filters({ error, excludes }: { error: Error | null; excludes: boolean }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const set = (changes: RunFilters & { all?: true | undefined }, replace = false) =>
    void navigate({ search: (before) => ({ ...before, ...changes }) as never, replace, resetScroll: false });
  const { q, error: errorText, fingerprint, function: functionId, app, from, to, all = false } = search;
  const range = selectedRange(from, to);
  return (
    <>
      <Tabs label="Status" tabs={TABS} current={search.status ?? 'all'} param="status" />
      <search aria-label="Search runs" className="mb-3 block">
        <SearchBox of="runs" search={q} error={error} onSearch={(text) => set({ q: text })} />
      </search>
      <div className="mb-4 grid grid-cols-2 gap-2 sm:flex sm:flex-wrap sm:items-end">
        <FunctionFilter value={functionId} app={app} onChange={(id) => set({ function: id })} />
        <AppFilter value={app} onChange={(name) => set({ app: name, function: undefined })} />
        <TimeFilter what="Queued" from={from} to={to} onChange={set} />
        <ErrorFilter key={errorText} value={errorText} onChange={(text) => set({ error: text })} />
        {excludes && functionId === undefined && (
          <div className="col-span-2 flex min-h-8 items-center">
            <Checkbox checked={all} onChange={(isAll) => set({ all: isAll || undefined })}>
              Schedules and failure handlers
            </Checkbox>
          </div>
        )}
        {fingerprint && <ErrorGroupFilter fingerprint={fingerprint} onRemove={() => set({ fingerprint: undefined })} />}
        {(q || errorText || fingerprint || functionId || app || range !== 'any') && (
          <Button variant="ghost" icon="close" onClick={() => set(NO_FILTERS)}>
            Clear
          </Button>
        )}
      </div>
    </>
  );
}

function FunctionFilter({
  value,
  app,
  onChange,
}: {
  value?: string | undefined;
  app?: string | undefined;
  onChange(id: string | undefined): void;
}) {
  const { functions = [] } = useFunctions();
  const offered = functions.filter((fn) => app === undefined || fn.app === app);
  const known = value === undefined || offered.some(({ id }) => id === value);
  return (
    <div className="min-w-0 sm:w-56">
      <Select
        label="Function"
        hideLabel
        value={value ?? ''}
        onChange={({ target }) => onChange(target.value || undefined)}
      >
        <option value="">All functions</option>
        {!known && <option value={value}>{value}</option>}
        {offered.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </Select>
    </div>
  );
}

function AppFilter({ value, onChange }: { value?: string | undefined; onChange(name: string | undefined): void }) {
  const { apps = [] } = useApps();
  const names = [...new Set([...apps.map(({ name }) => name), ...(value === undefined ? [] : [value])])];
  return (
    <div className="min-w-0 sm:w-44">
      <Select label="App" hideLabel value={value ?? ''} onChange={({ target }) => onChange(target.value || undefined)}>
        <option value="">All apps</option>
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </Select>
    </div>
  );
}

/** A text in the error. Applies on Enter or blur. */
function ErrorFilter({ value, onChange }: { value?: string | undefined; onChange(text: string | undefined): void }) {
  const [typed, setTyped] = useState(value ?? '');
  const apply = () => {
    const text = typed.trim() || undefined;
    if (text !== value) onChange(text);
  };
  return (
    <div className="min-w-0 sm:w-44">
      <TextField
        label="Error text"
        hideLabel
        placeholder="Error text"
        value={typed}
        autoComplete="off"
        onChange={({ target }) => setTyped(target.value)}
        onBlur={apply}
        onKeyDown={({ key }) => key === 'Enter' && apply()}
      />
    </div>
  );
}
