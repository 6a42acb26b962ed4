import type { LoggedRequest } from '../../api/types.ts';

const LOOKS: Record<string, string> = { error: 'text-bad', warn: 'text-warn' };

/** Console output of a transform. */
export function ConsoleOutput({ lines }: { lines: LoggedRequest['console'] }) {
  return (
    <ol
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
      aria-label="Console"
      className="max-h-48 space-y-1 overflow-auto font-mono text-xs"
    >
      {lines.map(({ level, text }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity but their position
        <li key={at} className="flex gap-3">
          <span className={`w-10 shrink-0 ${LOOKS[level] ?? 'text-muted'}`}>{level}</span>
          <span className="min-w-0 break-words whitespace-pre-wrap">{text}</span>
        </li>
      ))}
    </ol>
  );
}
