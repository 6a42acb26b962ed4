/** Light, dark, or as the system has it; kept in this browser. */
export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const KEY = 'theme';
const systemDark = matchMedia('(prefers-color-scheme: dark)');

export function readTheme(): Theme {
  const kept = localStorage.getItem(KEY);
  return THEMES.find((theme) => theme === kept) ?? 'system';
}

export function setTheme(theme: Theme): void {
  localStorage.setItem(KEY, theme);
  applyTheme();
}

/** Marks the page as dark or light, and does so again when the system changes its mind. */
export function applyTheme(): void {
  const theme = readTheme();
  document.documentElement.dataset.theme = theme === 'system' ? (systemDark.matches ? 'dark' : 'light') : theme;
}

systemDark.addEventListener('change', applyTheme);
