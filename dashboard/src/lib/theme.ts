/** Light, dark, or as the system has it; kept in this browser. */
import { useSyncExternalStore } from 'react';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const STORAGE_KEY = 'theme';
const systemDark = matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();

/** The one that the reader has chosen. */
export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, readTheme);
}

export function setTheme(theme: Theme): void {
  localStorage.setItem(STORAGE_KEY, theme);
  applyTheme();
}

/** Marks the page as dark or light, and does so again when the system changes its mind. */
export function applyTheme(): void {
  const theme = readTheme();
  document.documentElement.dataset.theme = theme === 'system' ? (systemDark.matches ? 'dark' : 'light') : theme;
  for (const listener of listeners) listener();
}

function readTheme(): Theme {
  const kept = localStorage.getItem(STORAGE_KEY);
  return THEMES.find((theme) => theme === kept) ?? 'system';
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

systemDark.addEventListener('change', applyTheme);
// Chosen in another tab.
window.addEventListener('storage', ({ key }) => {
  if (key === STORAGE_KEY) applyTheme();
});
