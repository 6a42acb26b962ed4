import { Dialog } from '../ui/dialog.tsx';
import { NAV_ITEMS } from './navigation.ts';

const KEYS: [keys: string, what: string][] = [
  ['⌘K', 'Jump to a page, an event, a run, a function, a webhook'],
  ['/', 'Search in this page'],
  ['j  k', 'Down and up in a list'],
  ['Enter', 'Open what is chosen'],
  ['?', 'This list'],
];

export function ShortcutsDialog({ open, onClose }: { open: boolean; onClose(): void }) {
  return (
    <Dialog open={open} title="Keyboard shortcuts" onClose={onClose}>
      <dl className="grid grid-cols-[5rem_1fr] gap-x-4 gap-y-2">
        {[...KEYS, ...NAV_ITEMS.map(({ shortcut: key, label }) => [`g ${key}`, label] as const)].map(([keys, what]) => (
          <div key={keys} className="contents">
            <dt>
              <kbd className="rounded border border-line bg-sunken px-1.5 py-0.5 font-mono text-xs">{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
