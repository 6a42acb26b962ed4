import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { PRODUCTION } from '../api/client.ts';
import { useEnv, useEnvironments } from '../api/environment.ts';
import { modShortcut } from '../lib/platform.ts';
import { setTheme, THEMES, type Theme, useTheme } from '../lib/theme.ts';
import { IconButton } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { AccountMenu } from './account.tsx';
import { StatusBadge } from './status-strip.tsx';

const THEME_ICONS = { system: 'monitor', light: 'sun', dark: 'moon' } as const;

export function TopBar({ onMenu, onSearch, onShortcuts }: { onMenu(): void; onSearch(): void; onShortcuts(): void }) {
  return (
    <header className="flex h-14 items-center gap-2 border-b border-line px-3 sm:px-8">
      <IconButton icon="menu" label="Open menu" className="lg:hidden" onClick={onMenu} />
      <EnvironmentPicker />
      <StatusBadge />
      <button
        type="button"
        onClick={onSearch}
        className="ml-auto flex h-8 items-center gap-2 rounded-md border border-line bg-surface px-2.5 text-sm text-muted hover:border-line-strong"
      >
        <Icon name="search" />
        <span className="hidden sm:inline">Jump to…</span>
        <kbd className="hidden rounded border border-line px-1 font-mono text-xs sm:inline">{modShortcut('K')}</kbd>
        <span className="sr-only sm:hidden">Jump to</span>
      </button>
      <ThemeButton />
      <span className="hidden font-mono text-muted sm:inline">
        <button
          type="button"
          onClick={onShortcuts}
          aria-label="Keyboard shortcuts"
          title="Keyboard shortcuts"
          className="size-8 rounded-md hover:bg-sunken"
        >
          ?
        </button>
      </span>
      <div className="max-sm:hidden">
        <AccountMenu />
      </div>
    </header>
  );
}

/** Selects the environment of all pages. */
function EnvironmentPicker() {
  const env = useEnv();
  const environments = useEnvironments();
  const navigate = useNavigate();
  const names = [...new Set([...environments.map(({ name }) => name), env])];
  const first = environments[0]?.name ?? PRODUCTION;
  // Production comes first, unless the user may not see it.
  useEffect(() => {
    if (env === PRODUCTION && first !== PRODUCTION) {
      void navigate({ to: '.', replace: true, search: (before: object) => ({ ...before, env: first }) as never });
    }
  }, [env, first, navigate]);
  const archived = new Set(environments.filter(({ archived_at }) => archived_at).map(({ name }) => name));
  return (
    <label className="flex min-w-0 items-center gap-2 text-sm">
      <span className="hidden text-muted sm:inline">Environment</span>
      <span className="sr-only sm:hidden">Environment</span>
      <span className={`inline-block size-2 rounded-full ${env === PRODUCTION ? 'bg-accent' : 'bg-warn'}`} />
      <select
        value={env}
        onChange={({ target }) =>
          void navigate({
            to: '.',
            search: (before: object) =>
              ({ ...before, env: target.value === PRODUCTION ? undefined : target.value }) as never,
          })
        }
        className="h-8 max-w-48 min-w-0 rounded-md border border-line bg-surface px-2 font-medium"
      >
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
            {archived.has(name) && ' (archived)'}
          </option>
        ))}
      </select>
    </label>
  );
}

function ThemeButton() {
  const theme = useTheme();
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] as Theme;
  return (
    <IconButton icon={THEME_ICONS[theme]} label={`Theme: ${theme}. Switch to ${next}`} onClick={() => setTheme(next)} />
  );
}
