import { modShortcut } from '../lib/platform.ts';
import { Dialog } from '../ui/dialog.tsx';
import { usePages } from './navigation.ts';

const KEYS: [keys: string, action: string][] = [
  [modShortcut('K'), 'Jump to anything, or act'],
  ['/', 'Search this page'],
  ['j  k', 'Next and previous row'],
  ['Enter', 'Open the current row'],
  ['x', 'Select the current row for an action on several'],
  ['?', 'Show keyboard shortcuts'],
];

export default function ShortcutsDialog({ open, onClose }: { open: boolean; onClose(): void }) {
  return (
    <Dialog open={open} title="Keyboard shortcuts" wide onClose={onClose}>
      <dl className="grid grid-cols-[5rem_1fr] gap-x-4 gap-y-2 sm:grid-cols-[5rem_1fr_5rem_1fr]">
        {[...KEYS, ...usePages().map(({ shortcut, label }) => [`g  ${shortcut}`, `Go to ${label}`] as const)].map(
          ([keys, action]) => (
            <div key={keys} className="contents">
              <dt>
                <kbd className="rounded border border-line bg-sunken px-1.5 py-0.5 font-mono text-xs">{keys}</kbd>
              </dt>
              <dd>{action}</dd>
            </div>
          ),
        )}
      </dl>
    </Dialog>
  );
}
