import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState } from 'react';
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
  go(): void;
}

const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/i;
const SHOWN = 12;

/** ⌘K: to any page, function, webhook, and, by its ID, to any event or run. */
export function CommandPalette({ open, onClose }: { open: boolean; onClose(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [words, setWords] = useState('');
  const [chosen, setChosen] = useState(0);
  const targets = useTargets(words, open, onClose);
  useEffect(() => {
    if (!open) return dialog.current?.close();
    setWords('');
    setChosen(0);
    dialog.current?.showModal();
  }, [open]);
  return (
    <dialog
      ref={dialog}
      aria-label="Jump to"
      // React lets the close of a dialog within this one bubble up to it.
      onClose={({ target, currentTarget }) => {
        if (target === currentTarget) onClose();
      }}
      className="mx-auto mt-[12vh] w-[calc(100vw-2rem)] max-w-xl rounded-xl border border-line bg-surface p-0 text-text shadow-2xl"
    >
      <input
        value={words}
        onChange={({ target }) => {
          setWords(target.value);
          setChosen(0);
        }}
        onKeyDown={(event) => {
          const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
          if (step) {
            event.preventDefault();
            setChosen((at) => Math.max(0, Math.min(targets.length - 1, at + step)));
          }
          if (event.key === 'Enter') targets[chosen]?.go();
        }}
        placeholder="A page, a function, a webhook, or the ID of an event or run"
        aria-label="Jump to"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-targets"
        aria-activedescendant={targets[chosen] ? `palette-${chosen}` : undefined}
        className="h-12 w-full border-b border-line bg-transparent px-4 text-lg outline-none"
      />
      <div id="palette-targets" role="listbox" aria-label="Targets" className="max-h-[50vh] overflow-auto p-2">
        {targets.map(({ key, icon, label, kind, go }, index) => (
          <button
            key={key}
            id={`palette-${index}`}
            type="button"
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            onClick={go}
            onMouseMove={() => setChosen(index)}
            className="group flex w-full items-center gap-3 rounded-md px-3 py-2 text-left aria-selected:bg-accent-soft"
          >
            <Icon name={icon} className="text-muted" />
            <span className="min-w-0 flex-1 truncate">{label}</span>
            <span className="text-xs text-muted group-aria-selected:text-text">{kind}</span>
          </button>
        ))}
        {targets.length === 0 && <p className="p-3 text-muted">Nothing is called so.</p>}
      </div>
    </dialog>
  );
}

function useTargets(words: string, open: boolean, onClose: () => void): Target[] {
  const env = useEnv();
  const navigate = useNavigate();
  const functions = useQuery({
    queryKey: ['functions', env, 'palette'],
    queryFn: ({ signal }) => callApi<ListedFunction[]>('/v1/functions', { env, signal, query: { limit: 100 } }),
    enabled: open,
  });
  const webhooks = useQuery({
    queryKey: ['webhooks', env, 'palette'],
    queryFn: ({ signal }) => callApi<Webhook[]>('/v1/webhooks', { env, signal, query: { limit: 100 } }),
    enabled: open,
  });
  return useMemo(() => {
    const going = (start: () => Promise<void>) => () => {
      onClose();
      void start();
    };
    const all: Target[] = [
      ...NAV_ITEMS.map(({ to: path, label, icon }) => ({
        key: path,
        icon,
        label,
        kind: 'page',
        go: going(() => navigate({ to: path })),
      })),
      ...(functions.data?.data ?? []).map(({ id, name }) => ({
        key: `function ${id}`,
        icon: 'code' as const,
        label: name === id ? id : `${name} (${id})`,
        kind: 'function',
        go: going(() => navigate({ to: '/functions/$id', params: { id } })),
      })),
      ...(webhooks.data?.data ?? []).map(({ id, name }) => ({
        key: `webhook ${id}`,
        icon: 'hook' as const,
        label: name,
        kind: 'webhook',
        go: going(() => navigate({ to: '/webhooks/$id', params: { id } })),
      })),
    ];
    const id = words.trim();
    if (ULID.test(id)) {
      const params = { id: id.toUpperCase() };
      return [
        {
          key: 'event',
          icon: 'bolt',
          label: id,
          kind: 'event',
          go: going(() => navigate({ to: '/events/$id', params })),
        },
        { key: 'run', icon: 'play', label: id, kind: 'run', go: going(() => navigate({ to: '/runs/$id', params })) },
      ];
    }
    const wanted = id.toLowerCase().split(/\s+/);
    return all.filter(({ label }) => wanted.every((word) => label.toLowerCase().includes(word))).slice(0, SHOWN);
  }, [words, functions.data, webhooks.data, navigate, onClose]);
}
