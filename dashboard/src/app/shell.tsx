import { Link, Outlet, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useKeys } from '../lib/use-shortcuts.ts';
import { IconButton } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { AccountMenu } from './account.tsx';
import { CommandPalette } from './command-palette.tsx';
import { NAV_ITEMS, type NavItem } from './navigation.ts';
import { ShortcutsDialog } from './shortcuts-dialog.tsx';
import { TopBar } from './top-bar.tsx';

const GROUPS: [NavItem['group'], string][] = [
  ['watch', 'Watch'],
  ['run', 'Run'],
  ['receive', 'Receive'],
  ['manage', 'Manage'],
];

/** The frame around every page. */
export function Shell() {
  const [palette, setPalette] = useState(false);
  const [shortcuts, setShortcuts] = useState(false);
  const [menu, setMenu] = useState(false);
  usePageKeys(
    () => setPalette(true),
    () => setShortcuts(true),
  );
  return (
    <div className="min-h-screen lg:grid lg:grid-cols-[14rem_minmax(0,1fr)]">
      <a
        href="#content"
        className="sr-only rounded bg-accent px-3 py-2 text-accent-text focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50"
      >
        Skip to the content
      </a>
      <aside
        className={`${menu ? 'fixed inset-0 z-40 block overflow-auto bg-page' : 'hidden'} border-r border-line lg:sticky lg:top-0 lg:block lg:h-screen lg:overflow-auto`}
      >
        <div className="flex h-14 items-center justify-between px-5">
          <Link to="/" className="flex items-center gap-2 font-semibold tracking-tight" onClick={() => setMenu(false)}>
            <img src="/favicon.svg" alt="" className="size-6" />
            Tidegate
          </Link>
          {menu && <IconButton icon="cross" label="Close the menu" onClick={() => setMenu(false)} />}
        </div>
        <nav aria-label="Pages" className="px-3 pb-8">
          {GROUPS.map(([group, label]) => (
            <div key={group} className="mb-4">
              <p className="px-2 pb-1 text-xs text-muted">{label}</p>
              {NAV_ITEMS.filter((place) => place.group === group).map((place) => (
                <Link
                  key={place.to}
                  to={place.to}
                  onClick={() => setMenu(false)}
                  activeOptions={{ exact: place.to === '/', includeSearch: false }}
                  className="flex items-center gap-2.5 rounded-md px-2 py-1.5 text-muted hover:bg-sunken hover:text-text aria-[current=page]:bg-accent-soft aria-[current=page]:font-medium aria-[current=page]:text-text"
                >
                  <Icon name={place.icon} />
                  {place.label}
                </Link>
              ))}
            </div>
          ))}
        </nav>
        <div className="border-t border-line px-5 py-4 sm:hidden">
          <AccountMenu />
        </div>
      </aside>
      <div className="min-w-0">
        <TopBar onMenu={() => setMenu(true)} onSearch={() => setPalette(true)} onShortcuts={() => setShortcuts(true)} />
        <main id="content" tabIndex={-1} className="outline-none">
          <Outlet />
        </main>
      </div>
      <CommandPalette open={palette} onClose={() => setPalette(false)} />
      <ShortcutsDialog open={shortcuts} onClose={() => setShortcuts(false)} />
    </div>
  );
}

const SECOND_KEY_MS = 1_500;

/** ⌘K and ? everywhere; `g` and then a letter goes to a page; `/` to the page's own search field. */
function usePageKeys(openPalette: () => void, openShortcuts: () => void): void {
  const navigate = useNavigate();
  const [goneAt, setGoneAt] = useState(0);
  const go = (key: string) => {
    const place = NAV_ITEMS.find((each) => each.shortcut === key);
    if (place && Date.now() - goneAt < SECOND_KEY_MS) void navigate({ to: place.to });
    setGoneAt(0);
  };
  useKeys({
    'mod+k': (event) => {
      event.preventDefault();
      openPalette();
    },
    '?': openShortcuts,
    '/': (event) => {
      const field = document.querySelector<HTMLElement>('[data-page-search]');
      event.preventDefault();
      if (field) field.focus();
      else openPalette();
    },
    g: () => setGoneAt(Date.now()),
    ...(goneAt > 0 && Object.fromEntries(NAV_ITEMS.map(({ shortcut: key }) => [key, () => go(key)]))),
  });
}
