import { useRouterState } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { parseSearch } from '../lib/query-string.ts';
import { IconButton } from '../ui/button.tsx';

/** The URL with which the page was opened; the router replaces it by one with valid values. */
const OPENED = { path: window.location.pathname, search: parseSearch(window.location.search) };
const SHOWN_CHARS = 60;

/** Lists values of the URL that have no effect, so that users do not mistake an unfiltered list for a filtered one. */
export function IgnoredParams() {
  const [ignored, setIgnored] = useState<readonly string[]>();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const understood = useRouterState({
    select: ({ status, matches }) =>
      status === 'idle' ? (matches.at(-1)?.search as Record<string, unknown> | undefined) : undefined,
  });
  // Only the first time: a filter that is removed later was understood.
  useEffect(() => {
    if (!understood || ignored) return;
    const entries = Object.entries(OPENED.search).filter(
      ([name, value]) => value !== '' && understood[name] === undefined,
    );
    setIgnored(entries.map(([name, value]) => `${name}=${value}`.slice(0, SHOWN_CHARS)));
  }, [understood, ignored]);
  if (!ignored?.length || path !== OPENED.path) return null;
  return (
    <div
      role="status"
      className="mx-4 mt-3 flex items-center gap-3 rounded-md border border-warn/40 bg-warn-soft px-3 py-1 text-sm text-warn sm:mx-8"
    >
      <p className="min-w-0 flex-1 break-words">
        Ignored: <span className="font-mono text-xs">{ignored.join(', ')}</span>. The URL has values that mean nothing
        here.
      </p>
      <IconButton icon="close" label="Dismiss" onClick={() => setIgnored([])} />
    </div>
  );
}
