/** Keyboard shortcuts. A key typed into a field is text and nothing else; while a dialog is open the page behind it hears nothing. */
import { useEffect, useRef } from 'react';

type Handlers = Record<string, (event: KeyboardEvent) => void>;

/** @param handlers by `event.key`, with `mod+` before it for ⌘ or Ctrl */
export function useKeys(handlers: Handlers, enabled = true): void {
  const latest = useRef(handlers);
  latest.current = handlers;
  useEffect(() => {
    if (!enabled) return;
    const listen = (event: KeyboardEvent) => {
      const mod = event.metaKey || event.ctrlKey;
      const handler = latest.current[mod ? `mod+${event.key.toLowerCase()}` : event.key];
      if (!handler || event.altKey || event.isComposing) return;
      if (!mod && (isTyping(event.target) || document.querySelector('dialog[open]'))) return;
      handler(event);
    };
    window.addEventListener('keydown', listen);
    return () => window.removeEventListener('keydown', listen);
  }, [enabled]);
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
