import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { Button } from './button.tsx';
import type { IconName } from './icon.tsx';

/** Between the panel and the edge of the screen. */
const MARGIN_PX = 16;

interface PopoverProps {
  label: string;
  icon?: IconName;
  /** The button shows no text. */
  iconOnly?: boolean;
  wide?: boolean;
  /** The edge of the panel that lines up with the button. */
  align?: 'left' | 'right';
  children: ReactNode | ((close: () => void) => ReactNode);
}

/** A button that shows a panel below it. Escape, a click outside, and leaving the panel by Tab close it. */
export function Popover({ label, icon, iconOnly = false, wide = false, align = 'right', children }: PopoverProps) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  useEffect(() => {
    if (!open) return;
    const closeOutside = ({ target }: Event) => {
      if (target instanceof Node && !root.current?.contains(target)) setOpen(false);
    };
    const events = ['pointerdown', 'focusin'] as const;
    for (const event of events) document.addEventListener(event, closeOutside);
    return () => {
      for (const event of events) document.removeEventListener(event, closeOutside);
    };
  }, [open]);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape, wherever the focus is inside
    <div
      ref={root}
      className="relative"
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !open) return;
        event.stopPropagation();
        close();
      }}
    >
      <Button
        ref={button}
        icon={icon}
        aria-label={iconOnly ? label : undefined}
        title={iconOnly ? label : undefined}
        className={iconOnly ? 'px-2!' : ''}
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        {!iconOnly && label}
      </Button>
      {open && (
        <section
          ref={moveIntoView}
          id={id}
          aria-label={label}
          className={`absolute top-full z-30 mt-1 ${wide ? 'w-96' : 'w-72'} max-w-[calc(100vw-2rem)] rounded-lg border border-line bg-surface p-3 text-left text-sm shadow-lg ${align === 'right' ? 'right-0' : 'left-0'}`}
        >
          {typeof children === 'function' ? children(close) : children}
        </section>
      )}
    </div>
  );
}

/** Next to a button in the middle of a phone, the panel would begin left of the screen, where users cannot scroll. */
function moveIntoView(panel: HTMLElement | null): void {
  if (!panel) return;
  const { left, right } = panel.getBoundingClientRect();
  const end = document.documentElement.clientWidth - MARGIN_PX;
  if (left < MARGIN_PX) panel.style.translate = `${MARGIN_PX - left}px`;
  else if (right > end) panel.style.translate = `${end - right}px`;
}
