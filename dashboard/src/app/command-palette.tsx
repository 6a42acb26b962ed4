import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { CommandEmpty, CommandInput, CommandItem, CommandList, CommandRoot } from 'cmdk';
import { useEffect, useRef, useState } from 'react';
import { callApi } from '../api/client.ts';
import { useEnv } from '../api/environment.ts';
import type { ListedFunction, Webhook } from '../api/types.ts';
import { Icon, type IconName } from '../ui/icon.tsx';
import { NAV_ITEMS } from './navigation.ts';

interface Target {
  key: string;
  icon: IconName;
  label: string;
  kind: string;
  open(): Promise<void>;
}

const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/i;
const LABEL = 'Jump to';

/** ⌘K: opens any page, function or webhook, and any event or run by its ID. */
export default function CommandPalette({ onClose }: { onClose(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [query, setQuery] = useState('');
  const targets = useTargets(query);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      ref={dialog}
      aria-label={LABEL}
      onClose={onClose}
      className="mx-auto mt-[12vh] w-[calc(100vw-2rem)] max-w-xl rounded-xl border border-line bg-surface p-0 text-text shadow-2xl"
    >
      <CommandRoot label={LABEL}>
        <CommandInput
          value={query}
          onValueChange={setQuery}
          autoFocus
          placeholder="Page, function, webhook, event ID or run ID"
          className="h-12 w-full border-b border-line bg-transparent px-4 text-lg outline-none"
        />
        <CommandList label="Results" className="max-h-[50vh] overflow-auto p-2">
          <CommandEmpty className="p-3 text-muted">No results</CommandEmpty>
          {targets.map(({ key, icon, label, kind, open }) => (
            <CommandItem
              key={key}
              value={key}
              keywords={[label]}
              onSelect={() => {
                onClose();
                void open();
              }}
              className="group flex cursor-pointer items-center gap-3 rounded-md px-3 py-2 aria-selected:bg-accent-soft"
            >
              <Icon name={icon} className="text-muted" />
              <span className="min-w-0 flex-1 truncate">{label}</span>
              <span className="text-xs text-muted group-aria-selected:text-text">{kind}</span>
            </CommandItem>
          ))}
        </CommandList>
      </CommandRoot>
    </dialog>
  );
}

function useTargets(query: string): Target[] {
  const env = useEnv();
  const navigate = useNavigate();
  const functions = useQuery({
    queryKey: ['functions', env, 'palette'],
    queryFn: ({ signal }) => callApi<ListedFunction[]>('/v1/functions', { env, signal, query: { limit: 100 } }),
  });
  const webhooks = useQuery({
    queryKey: ['webhooks', env, 'palette'],
    queryFn: ({ signal }) => callApi<Webhook[]>('/v1/webhooks', { env, signal, query: { limit: 100 } }),
  });
  const id = query.trim();
  if (ULID.test(id)) {
    const params = { id: id.toUpperCase() };
    return [
      {
        key: `event ${id}`,
        icon: 'zap',
        label: id,
        kind: 'event',
        open: () => navigate({ to: '/events/$id', params }),
      },
      { key: `run ${id}`, icon: 'play', label: id, kind: 'run', open: () => navigate({ to: '/runs/$id', params }) },
    ];
  }
  return [
    ...NAV_ITEMS.map(
      ({ to, label, icon }): Target => ({
        key: `page ${label}`,
        icon,
        label,
        kind: 'page',
        open: () => navigate({ to }),
      }),
    ),
    ...(functions.data?.data ?? []).map(
      ({ id, name }): Target => ({
        key: `function ${id}`,
        icon: 'code',
        label: name === id ? id : `${name} (${id})`,
        kind: 'function',
        open: () => navigate({ to: '/functions/$id', params: { id } }),
      }),
    ),
    ...(webhooks.data?.data ?? []).map(
      ({ id, name }): Target => ({
        key: `webhook ${id}`,
        icon: 'webhook',
        label: name,
        kind: 'webhook',
        open: () => navigate({ to: '/webhooks/$id', params: { id } }),
      }),
    ),
  ];
}
