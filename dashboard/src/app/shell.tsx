import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useCurrentUser } from '../api/current-user.ts';
import { useEnv } from '../api/environment.ts';
import { usePreference } from '../features/notifications/preference.ts';
import { useTrackedBulks } from '../features/runs/bulk/tracked.ts';
import { useCurrentStatus, useIsUnknownEnvironment } from '../features/status/use-status.ts';
import { useShortcuts } from '../lib/use-shortcuts.ts';
import { IconButton } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loading } from '../ui/loading.tsx';
import { AccountMenu } from './account.tsx';
import { AttentionCount } from './attention-count.tsx';
import { UnknownEnvironmentPage } from './error-pages.tsx';
import { IgnoredParams } from './ignored-params.tsx';
import { type NavItem, pageOf, useMayRead, usePages } from './navigation.ts';
import { StatusStrip } from './status-strip.tsx';
import { TopBar } from './top-bar.tsx';

const CommandPalette = lazy(() => import('./palette/command-palette.tsx'));
const NoAccessPage = lazy(() => import('./no-access-page.tsx'));
const Notifications = lazy(() => import('../features/notifications/notifications.ts'));
const ShortcutsDialog = lazy(() => import('./shortcuts-dialog.tsx'));
const BulkPanel = lazy(() => import('../features/runs/bulk/bulk-panel.tsx'));

const GROUPS: [NavItem['group'], string][] = [
  ['monitor', 'Monitor'],
  ['run', 'Run'],
  ['receive', 'Receive'],
  ['manage', 'Manage'],
];

/** Navigation, top bar and dialogs around every page. */
export function Shell() {
  const [palette, setPalette] = useState(false);
  // undefined: not opened yet. It stays mounted when it is closed, so that the focus returns.
  const [shortcuts, setShortcuts] = useState<boolean>();
  const [menu, setMenu] = useState(false);
  const env = useEnv();
  const pages = usePages();
  useCurrentStatus();
  useGlobalShortcuts(
    pages,
    () => setPalette(true),
    () => setShortcuts(true),
  );
  return (
    <div className="min-h-screen lg:grid lg:grid-cols-[14rem_minmax(0,1fr)]">
      <a
        href="#content"
        className="sr-only rounded bg-accent px-3 py-2 text-accent-text focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50"
      >
        Skip to content
      </a>
      <aside
        className={`${menu ? 'fixed inset-0 z-40 block overflow-auto bg-page' : 'hidden'} border-r border-line lg:sticky lg:top-0 lg:block lg:h-screen lg:overflow-auto`}
      >
        <div className="flex h-14 items-center justify-between px-5">
          <Link to="/" className="flex items-center gap-2 font-semibold tracking-tight" onClick={() => setMenu(false)}>
            <img src="/favicon.svg" alt="" className="size-6" />
            Tidegate
          </Link>
          {menu && <IconButton icon="close" label="Close menu" onClick={() => setMenu(false)} />}
        </div>
        <nav aria-label="Pages" className="px-3 pb-8">
          {GROUPS.filter(([group]) => pages.some((page) => page.group === group)).map(([group, label]) => (
            <div key={group} className="mb-4">
              <p className="px-2 pb-1 text-xs text-muted">{label}</p>
              {pages
                .filter((item) => item.group === group)
                .map((item) => (
                  <Link
                    key={item.to}
                    to={item.to}
                    onClick={() => setMenu(false)}
                    activeOptions={{ exact: item.to === '/', includeSearch: false }}
                    className="flex items-center gap-2.5 rounded-md px-2 py-1.5 text-muted hover:bg-sunken hover:text-text aria-[current=page]:bg-accent-soft aria-[current=page]:font-medium aria-[current=page]:text-text"
                  >
                    <Icon name={item.icon} />
                    {item.label}
                    <AttentionCount page={item.to} />
                  </Link>
                ))}
            </div>
          ))}
        </nav>
        <div className="border-t border-line px-5 py-4 sm:hidden">
          <AccountMenu onNavigate={() => setMenu(false)} />
        </div>
      </aside>
      <div className="min-w-0">
        <TopBar onMenu={() => setMenu(true)} onSearch={() => setPalette(true)} onShortcuts={() => setShortcuts(true)} />
        <StatusStrip />
        <main id="content" tabIndex={-1} className="outline-none">
          <IgnoredParams />
          {useIsUnknownEnvironment() ? <UnknownEnvironmentPage /> : <ReadablePage />}
        </main>
      </div>
      {palette && (
        <Suspense>
          <CommandPalette onClose={() => setPalette(false)} onShortcuts={() => setShortcuts(true)} />
        </Suspense>
      )}
      {useTrackedBulks().length > 0 && (
        <Suspense>
          <BulkPanel />
        </Suspense>
      )}
      {usePreference() === 'on' && (
        <Suspense>
          <Notifications key={env} />
        </Suspense>
      )}
      {shortcuts !== undefined && (
        <Suspense>
          <ShortcutsDialog open={shortcuts} onClose={() => setShortcuts(false)} />
        </Suspense>
      )}
    </div>
  );
}

/** The page, or why the user may not read it: its requests, which would fail, are not sent. */
function ReadablePage() {
  const isKnown = useCurrentUser() !== undefined;
  const mayRead = useMayRead();
  const page = pageOf(useRouterState({ select: ({ matches }) => matches.at(-1)?.pathname ?? '' }));
  if (!page || mayRead(page)) return <Outlet />;
  if (!isKnown) return <Loading />;
  return (
    <Suspense fallback={<Loading />}>
      <NoAccessPage title={page.label} isForAdmins={page.access === 'admin'} />
    </Suspense>
  );
}

/** ⌘K opens the command palette, `?` the list of shortcuts, `/` the page's search field, and `g` with a letter a page. */
function useGlobalShortcuts(pages: NavItem[], openPalette: () => void, openShortcuts: () => void): void {
  const navigate = useNavigate();
  const byKeys = pages.map(({ to, shortcut }) => [`g ${shortcut}`, () => void navigate({ to })]);
  useShortcuts({
    '$mod+k': (event) => {
      event.preventDefault();
      openPalette();
    },
    // On most keyboards they need Shift.
    '[Shift]+?': openShortcuts,
    '[Shift]+/': (event) => {
      const field = document.querySelector<HTMLElement>('[data-page-search]');
      event.preventDefault();
      if (field) field.focus();
      else openPalette();
    },
    ...Object.fromEntries(byKeys),
  });
}
