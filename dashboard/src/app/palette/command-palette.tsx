import { CommandEmpty, CommandInput, CommandItem, CommandList, CommandRoot } from 'cmdk';
import { useEffect, useRef, useState } from 'react';
import type { ListedFunction } from '../../api/types.ts';
import PauseDialog from '../../features/functions/pause-dialog.tsx';
import { usePausing } from '../../features/functions/use-pausing.ts';
import { Icon } from '../../ui/icon.tsx';
import { matchOf } from './match.ts';
import { useActions } from './use-actions.ts';
import { useDestinations } from './use-destinations.ts';
import { useFirstSelected } from './use-first-selected.ts';

const LABEL = 'Jump to';

/** Goes to any page, name or ID, and acts. */
export default function CommandPalette({ onClose, onShortcuts }: { onClose(): void; onShortcuts(): void }) {
  const [pausing, setPausing] = useState<ListedFunction>();
  const [resuming, setResuming] = useState<ListedFunction>();
  if (pausing) return <PauseDialog fn={pausing} open onClose={onClose} />;
  if (resuming) return <Resuming fn={resuming} onDone={onClose} />;
  return <Palette onClose={onClose} onPause={setPausing} onResume={setResuming} onShortcuts={onShortcuts} />;
}

interface PaletteProps {
  onClose(): void;
  onPause(fn: ListedFunction): void;
  onResume(fn: ListedFunction): void;
  onShortcuts(): void;
}

function Palette({ onClose, ...handlers }: PaletteProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const [query, setQuery] = useState('');
  const staysOpen = useRef(false);
  const keepingOpen = (handler: (fn: ListedFunction) => void) => (fn: ListedFunction) => {
    staysOpen.current = true;
    handler(fn);
  };
  const actions = useActions({
    onPause: keepingOpen(handlers.onPause),
    onResume: keepingOpen(handlers.onResume),
    onShortcuts: handlers.onShortcuts,
  });
  const entries = [...useDestinations(query), ...actions];
  const list = useRef<HTMLDivElement>(null);
  const selection = useFirstSelected(list, query, [query, ...entries.map(({ key }) => key)].join('\n'));
  useEffect(() => {
    dialog.current?.showModal();
    // The dialog focuses the first element that can be, which is around the input.
    input.current?.focus();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-label={LABEL}
      onClose={onClose}
      className="mx-auto mt-[12vh] w-[calc(100vw-2rem)] max-w-xl rounded-xl border border-line bg-surface p-0 text-text shadow-2xl"
    >
      <CommandRoot label={LABEL} filter={matches} {...selection}>
        <CommandInput
          ref={input}
          value={query}
          onValueChange={setQuery}
          placeholder="Page, name, ID or action"
          className="h-12 w-full border-b border-line bg-transparent px-4 text-lg outline-none"
        />
        <CommandList ref={list} label="Results" className="max-h-[50vh] overflow-auto p-2">
          <CommandEmpty className="p-3 text-muted">No results</CommandEmpty>
          {entries.map(({ key, icon, label, keywords = [], kind, choose }) => (
            <CommandItem
              key={key}
              value={key}
              keywords={[label, ...keywords]}
              onSelect={() => {
                void choose();
                if (!staysOpen.current) onClose();
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

/** The first keyword of an entry is its label. */
function matches(_key: string, query: string, [label = '', ...keywords]: string[] = []): number {
  return matchOf(query, label, keywords);
}

/** Resuming needs no confirmation. */
function Resuming({ fn, onDone }: { fn: ListedFunction; onDone(): void }) {
  const { resume } = usePausing(fn);
  const started = useRef(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once
  useEffect(() => {
    if (started.current) return;
    started.current = true;
    void resume().then(onDone);
  }, []);
  return null;
}
