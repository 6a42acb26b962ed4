/** Where toasts appear; loaded with the first one. */
import { useEffect } from 'react';
import { Toaster as SonnerToaster, toast as sonner } from 'sonner';
import 'sonner/dist/styles.css';
import type { CSSProperties } from 'react';
import { Icon } from './icon.tsx';

export type Show = (kind: 'success' | 'error', message: string) => void;

const COLORS = {
  '--normal-bg': 'var(--surface)',
  '--normal-border': 'var(--line-strong)',
  '--normal-text': 'var(--text)',
} as CSSProperties;
/** Below the top bar. The corners at the bottom have the cards of bulk actions and the buttons of dialogs. */
const OFFSET = { top: '4rem' };
const ICONS = {
  success: <Icon name="check" className="text-good" />,
  error: <Icon name="warning" className="text-bad" />,
};

const show: Show = (kind, message) => void sonner[kind](message);

export default function Toaster({ onReady }: { onReady(show: Show): void }) {
  useEffect(() => onReady(show), [onReady]);
  return <SonnerToaster position="top-center" offset={OFFSET} mobileOffset={OFFSET} icons={ICONS} style={COLORS} />;
}
