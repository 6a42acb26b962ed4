import { Toaster as SonnerToaster, toast as sonner } from 'sonner';
import 'sonner/dist/styles.css';
import type { CSSProperties } from 'react';
import { Icon } from './icon.tsx';

const COLORS = {
  '--normal-bg': 'var(--surface)',
  '--normal-border': 'var(--line-strong)',
  '--normal-text': 'var(--text)',
} as CSSProperties;
const ICONS = {
  success: <Icon name="check" className="text-good" />,
  error: <Icon name="warning" className="text-bad" />,
};

/** A short message in the corner of the page after an action. */
export const toast = {
  success: (message: string) => void sonner.success(message),
  error: (error: Error) => void sonner.error(error.message),
};

/** Where toasts appear. Render it once. */
export function Toaster() {
  return <SonnerToaster position="bottom-right" icons={ICONS} style={COLORS} />;
}
