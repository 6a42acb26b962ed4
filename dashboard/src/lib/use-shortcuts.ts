/** Keyboard shortcuts. Keys typed into a field are text, and an open dialog blocks the shortcuts of the page behind it; shortcuts
 *  with ⌘ or Ctrl always work. */
import { useEffect, useRef } from 'react';
import { tinykeys } from 'tinykeys';

type Handlers = Record<string, (event: KeyboardEvent) => void>;

/** Time for the second key of a sequence such as `g e`. */
const SEQUENCE_MS = 1_500;

/** @param handlers by key or sequence as tinykeys writes them: `j`, `g e`, `$mod+k` (⌘ on a Mac, Ctrl elsewhere) */
export function useShortcuts(handlers: Handlers): void {
  const latest = useRef(handlers);
  latest.current = handlers;
  const keys = Object.keys(handlers).join('\n');
  useEffect(() => {
    const bindings = keys
      .split('\n')
      .map((key): [string, Handlers[string]] => [key, (event) => latest.current[key]?.(event)]);
    return tinykeys(window, Object.fromEntries(bindings), { timeout: SEQUENCE_MS, ignore: isIgnored });
  }, [keys]);
}

function isIgnored({ metaKey, ctrlKey, isComposing, target }: KeyboardEvent): boolean {
  if (isComposing) return true;
  return !metaKey && !ctrlKey && (isEditable(target) || document.querySelector('dialog[open]') !== null);
}

function isEditable(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
