import { useQuery } from '@tanstack/react-query';
import { useEffect, useId, useState } from 'react';
import { callApi } from '../../../api/client.ts';
import type { EventName, Webhook } from '../../../api/types.ts';
import { SearchBox } from '../../../features/search/search-box.tsx';
import { IconButton } from '../../../ui/button.tsx';
import { Select, TextField } from '../../../ui/field.tsx';
import { TimeFilter } from '../../../ui/time-filter.tsx';
import { type Filters, hasFilters } from '../filters.ts';
import { IdField } from './id-field.tsx';

const NAMES_SHOWN = 200;
const NO_FILTERS = {
  q: undefined,
  name: undefined,
  source: undefined,
  id: undefined,
  from: undefined,
  to: undefined,
};

interface FilterBarProps {
  env: string;
  filters: Filters;
  webhooks: readonly Webhook[];
  /** Why the list could not be loaded. */
  error: Error | null;
  /** @param replace the history entry: while something is typed */
  onChange(filters: Partial<Record<keyof Filters, string | true | undefined>>, replace?: boolean): void;
}

export function FilterBar({ env, filters, webhooks, error, onChange }: FilterBarProps) {
  const { q, name, source, from, to } = filters;
  return (
    <search
      aria-label="Filter events"
      className="mb-2 grid grid-cols-2 items-end gap-2 md:grid-cols-4 lg:grid-cols-[minmax(0,3.6fr)_minmax(0,1fr)_minmax(0,1fr)_minmax(0,1fr)_minmax(0,1fr)_auto]"
    >
      <div className="col-span-full lg:col-span-1">
        <SearchBox of="events" search={q} eventName={name} error={error} onSearch={(text) => onChange({ q: text })} />
      </div>
      <NameField env={env} name={name} onChange={(selected) => onChange({ name: selected })} />
      <Select
        label="Source"
        hideLabel
        value={source ?? ''}
        onChange={({ target }) => onChange({ source: target.value || undefined })}
      >
        <option value="">All sources</option>
        <option value="event-key">Event keys</option>
        <option value="webhook">All webhooks</option>
        {webhooks.map((webhook) => (
          <option key={webhook.id} value={`webhook:${webhook.id}`}>
            Webhook {webhook.name}
          </option>
        ))}
        <option value="api">API and dashboard</option>
        <option value="event">Resent events</option>
        <option value="service">System</option>
        {isUnlisted(source, webhooks) && <option value={source}>{source}</option>}
      </Select>
      <TimeFilter what="Received" from={from} to={to} onChange={onChange} />
      <IdField env={env} id={filters.id} onChange={(id) => onChange({ id })} />
      <IconButton
        icon="close"
        label="Clear filters"
        disabled={!hasFilters(filters)}
        onClick={() => onChange(NO_FILTERS)}
      />
    </search>
  );
}

const KINDS = ['event-key', 'webhook', 'api', 'event', 'service'];

/** A source from a hand-written URL. */
function isUnlisted(source: string | undefined, webhooks: readonly Webhook[]): boolean {
  return source !== undefined && !KINDS.includes(source) && !webhooks.some(({ id }) => source === `webhook:${id}`);
}

/** A name, or the beginning of several with `*`, with suggestions from stored events. Applies on Enter or blur. */
function NameField({
  env,
  name,
  onChange,
}: {
  env: string;
  name: string | undefined;
  onChange(name: string | undefined): void;
}) {
  const [typed, setTyped] = useState(name ?? '');
  const list = useId();
  const { data } = useQuery({
    queryKey: ['events', env, 'names'],
    queryFn: ({ signal }) => callApi<EventName[]>('/v1/events/names', { env, signal, query: { limit: NAMES_SHOWN } }),
    staleTime: 10_000,
  });
  const names = data?.data.map((each) => each.name) ?? [];
  useEffect(() => setTyped(name ?? ''), [name]);
  const apply = (text: string) => {
    if (text !== (name ?? '')) onChange(text || undefined);
  };
  return (
    <>
      <TextField
        label="Name"
        hideLabel
        placeholder="Name: order/paid"
        list={list}
        value={typed}
        autoComplete="off"
        spellCheck={false}
        onChange={({ target }) => {
          setTyped(target.value);
          // Selected from the list, or cleared.
          if (target.value === '' || names.includes(target.value)) apply(target.value);
        }}
        onBlur={() => apply(typed.trim())}
        onKeyDown={({ key }) => key === 'Enter' && apply(typed.trim())}
      />
      <datalist id={list}>
        {names.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
    </>
  );
}
