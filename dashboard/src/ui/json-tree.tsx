import { useMemo, useState } from 'react';
import { ExactNumber } from '../lib/exact-json.ts';
import { Icon } from './icon.tsx';

/** Entries of an object or list rendered at once: a payload of 512 KB must not render in full. */
const PAGE_ENTRIES = 100;
const LONG_TEXT = 400;
const OPEN_DEPTH = 2;
/** Larger objects and lists start collapsed, except the root. */
const OPEN_MAX_ENTRIES = 25;

/** A JSON value as a collapsible tree. Long lists and strings are cut until expanded; numbers keep all their digits. */
export function JsonTree({ value, label = 'JSON' }: { value: unknown; label?: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section aria-label={label} tabIndex={0} className="overflow-x-auto p-3 font-mono text-xs leading-6">
      <Node value={value} depth={0} />
    </section>
  );
}

function Node({ name, value, depth }: { name?: string; value: unknown; depth: number }) {
  const nested = typeof value === 'object' && value !== null && !(value instanceof ExactNumber);
  const entries = useMemo(() => (nested ? Object.entries(value) : []), [nested, value]);
  const [open, setOpen] = useState(depth === 0 || (depth < OPEN_DEPTH && entries.length <= OPEN_MAX_ENTRIES));
  const [shown, setShown] = useState(PAGE_ENTRIES);
  const key = name !== undefined && <span className="text-accent">{name}: </span>;
  if (!nested) {
    return (
      <div className="pl-5">
        {key}
        <Scalar value={value} />
      </div>
    );
  }
  const isList = Array.isArray(value);
  const [begin, end] = isList ? ['[', ']'] : ['{', '}'];
  if (entries.length === 0) {
    return (
      <div className="pl-5">
        {key}
        {begin}
        {end}
      </div>
    );
  }
  return (
    <div>
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="flex items-center gap-1 rounded text-left hover:bg-sunken"
      >
        <Icon name={open ? 'chevron-down' : 'chevron-right'} className="text-muted" />
        <span>
          {key}
          {begin}
          {!open && (
            <span className="text-muted">
              {' '}
              {entries.length} {countWord(entries.length, isList)} {end}
            </span>
          )}
        </span>
      </button>
      {open && (
        <>
          <div className="ml-2 border-l border-line pl-2">
            {entries.slice(0, shown).map(([entryName, entry]) => (
              <Node key={entryName} name={entryName} value={entry} depth={depth + 1} />
            ))}
            {entries.length > shown && (
              <button
                type="button"
                onClick={() => setShown(shown + PAGE_ENTRIES * 3)}
                className="ml-5 text-accent underline"
              >
                {entries.length - shown} more
              </button>
            )}
          </div>
          <div className="pl-5">{end}</div>
        </>
      )}
    </div>
  );
}

function countWord(count: number, isList: boolean): string {
  const word = isList ? 'item' : 'field';
  return count === 1 ? word : `${word}s`;
}

function Scalar({ value }: { value: unknown }) {
  const [whole, setWhole] = useState(false);
  if (typeof value !== 'string') {
    return <span className={value === null ? 'text-muted' : 'text-busy'}>{String(value)}</span>;
  }
  const cut = value.length > LONG_TEXT && !whole;
  return (
    <span className="break-all text-good">
      {JSON.stringify(cut ? value.slice(0, LONG_TEXT) : value)}
      {cut && (
        <button type="button" onClick={() => setWhole(true)} className="ml-2 text-accent underline">
          … {value.length - LONG_TEXT} more characters
        </button>
      )}
    </span>
  );
}
