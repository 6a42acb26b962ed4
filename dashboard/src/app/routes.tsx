/** Every page: path, query parameters, and its code, which loads when the page is opened. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  retainSearchParams,
} from '@tanstack/react-router';
import { STATUS_CHOICES } from '../features/runs/status-filter.ts';
import { ISSUE_KINDS } from '../features/webhooks/issues.ts';
import { parseSearch, stringifySearch } from '../lib/query-string.ts';
import { flag, integer, oneOf, searchSchema, text, time } from '../lib/search-params.ts';
import { Loading } from '../ui/loading.tsx';
import { ErrorPage, NotFoundPage } from './error-pages.tsx';
import { Shell } from './shell.tsx';

/** Search parameters of lists whose views can be saved. */
const LIST_VIEW = { columns: text, density: oneOf(['compact', 'comfortable']) };

const root = createRootRoute({
  component: Shell,
  notFoundComponent: NotFoundPage,
  validateSearch: searchSchema({ env: text }),
  search: { middlewares: [retainSearchParams(['env'])] },
});

const overview = createRoute({
  getParentRoute: () => root,
  path: '/',
  validateSearch: searchSchema({ range: oneOf(['1h', '6h', '24h', '7d']) }),
  component: lazyRouteComponent(() => import('../pages/overview/page.tsx')),
});

const events = createRoute({
  getParentRoute: () => root,
  path: '/events',
  validateSearch: searchSchema({
    q: text,
    name: text,
    source: text,
    id: text,
    from: time,
    to: time,
    paused: flag,
    all: flag,
    ...LIST_VIEW,
  }),
  component: lazyRouteComponent(() => import('../pages/events/list-page.tsx')),
});

const event = createRoute({
  getParentRoute: () => root,
  path: '/events/$id',
  validateSearch: searchSchema({
    view: oneOf(['tree', 'raw']),
    tab: oneOf(['payload', 'source', 'runs', 'decisions', 'code']),
    language: oneOf(['curl', 'typescript', 'python', 'go']),
  }),
  component: lazyRouteComponent(() => import('../pages/events/event-page.tsx')),
});

const runs = createRoute({
  getParentRoute: () => root,
  path: '/runs',
  validateSearch: searchSchema({
    q: text,
    error: text,
    fingerprint: text,
    status: oneOf(STATUS_CHOICES),
    function: text,
    app: text,
    all: flag,
    from: time,
    to: time,
    ...LIST_VIEW,
  }),
  component: lazyRouteComponent(() => import('../pages/runs/list-page.tsx')),
});

const run = createRoute({
  getParentRoute: () => root,
  path: '/runs/$id',
  validateSearch: searchSchema({ entry: text, calls: flag }),
  component: lazyRouteComponent(() => import('../pages/runs/run-page.tsx')),
});

const errors = createRoute({
  getParentRoute: () => root,
  path: '/errors',
  validateSearch: searchSchema({ state: oneOf(['open', 'resolved', 'ignored', 'all']), function: text }),
  component: lazyRouteComponent(() => import('../pages/errors/list-page.tsx')),
});

const errorGroup = createRoute({
  getParentRoute: () => root,
  path: '/errors/$fingerprint',
  component: lazyRouteComponent(() => import('../pages/errors/group-page.tsx')),
});

const replays = createRoute({
  getParentRoute: () => root,
  path: '/replays',
  validateSearch: searchSchema({ new: flag, q: text, name: text, source: text, from: time, to: time, ids: text }),
  component: lazyRouteComponent(() => import('../pages/replays/list-page.tsx')),
});

const replay = createRoute({
  getParentRoute: () => root,
  path: '/replays/$id',
  validateSearch: searchSchema({ outcome: oneOf(['started', 'skipped', 'failed']) }),
  component: lazyRouteComponent(() => import('../pages/replays/replay-page.tsx')),
});

const functions = createRoute({
  getParentRoute: () => root,
  path: '/functions',
  validateSearch: searchSchema({ q: text, app: text, archived: flag }),
  component: lazyRouteComponent(() => import('../pages/functions/list-page.tsx')),
});

const oneFunction = createRoute({
  getParentRoute: () => root,
  path: '/functions/$id',
  validateSearch: searchSchema({ range: oneOf(['1h', '6h', '24h', '7d']), step: text }),
  component: lazyRouteComponent(() => import('../pages/functions/function-page.tsx')),
});

const apps = createRoute({
  getParentRoute: () => root,
  path: '/apps',
  component: lazyRouteComponent(() => import('../pages/apps/list-page.tsx')),
});

const app = createRoute({
  getParentRoute: () => root,
  path: '/apps/$name',
  component: lazyRouteComponent(() => import('../pages/apps/app-page.tsx')),
});

const whatIf = createRoute({
  getParentRoute: () => root,
  path: '/apps/$name/what-ifs/$id',
  component: lazyRouteComponent(() => import('../pages/apps/what-ifs/what-if-page.tsx')),
});

const webhooks = createRoute({
  getParentRoute: () => root,
  path: '/webhooks',
  validateSearch: searchSchema({ q: text, new: text }),
  component: lazyRouteComponent(() => import('../pages/webhooks/list-page.tsx')),
});

const webhook = createRoute({
  getParentRoute: () => root,
  path: '/webhooks/$id',
  validateSearch: searchSchema({
    tab: oneOf(['setup', 'transform', 'requests', 'issues', 'versions', 'settings']),
    version: integer,
    with: oneOf(['before', 'live']),
    request: text,
    sample: text,
    outcome: oneOf(['accepted', 'ignored', 'filtered', 'held', 'handshake', 'rejected']),
    text,
    from: time,
    to: time,
    ...LIST_VIEW,
  }),
  component: lazyRouteComponent(() => import('../pages/webhooks/webhook-page.tsx')),
});

const destinations = createRoute({
  getParentRoute: () => root,
  path: '/destinations',
  component: lazyRouteComponent(() => import('../pages/destinations/list-page.tsx')),
});

const webhookIssues = createRoute({
  getParentRoute: () => root,
  path: '/webhook-issues',
  validateSearch: searchSchema({
    state: oneOf(['open', 'acknowledged', 'resolved', 'ignored', 'all']),
    kind: oneOf(ISSUE_KINDS),
  }),
  component: lazyRouteComponent(() => import('../pages/webhooks/issues/list-page.tsx')),
});

const holding = createRoute({
  getParentRoute: () => root,
  path: '/held-events',
  validateSearch: searchSchema({ webhook: text, name: text, selection: text, reason: text, id: text }),
  component: lazyRouteComponent(() => import('../pages/held-events/page.tsx')),
});

const alerts = createRoute({
  getParentRoute: () => root,
  path: '/alerts',
  validateSearch: searchSchema({ tab: oneOf(['open', 'past', 'rules', 'channels']) }),
  component: lazyRouteComponent(() => import('../pages/alerts/page.tsx')),
});

const keys = createRoute({
  getParentRoute: () => root,
  path: '/keys',
  validateSearch: searchSchema({ tab: oneOf(['event-keys', 'api-keys', 'signing-keys']) }),
  component: lazyRouteComponent(() => import('../pages/keys/page.tsx')),
});

const environments = createRoute({
  getParentRoute: () => root,
  path: '/environments',
  component: lazyRouteComponent(() => import('../pages/environments/page.tsx')),
});

const users = createRoute({
  getParentRoute: () => root,
  path: '/users',
  component: lazyRouteComponent(() => import('../pages/users/page.tsx')),
});

const account = createRoute({
  getParentRoute: () => root,
  path: '/account',
  component: lazyRouteComponent(() => import('../pages/account/page.tsx')),
});

const audit = createRoute({
  getParentRoute: () => root,
  path: '/audit-log',
  validateSearch: searchSchema({
    q: text,
    who: oneOf(['user', 'api-key', 'signing-key', 'setting', 'dev']),
    from: time,
    to: time,
    tab: oneOf(['changes', 'refusals']),
  }),
  component: lazyRouteComponent(() => import('../pages/audit-log/page.tsx')),
});

const settings = createRoute({
  getParentRoute: () => root,
  path: '/settings',
  validateSearch: searchSchema({ q: text }),
  component: lazyRouteComponent(() => import('../pages/settings/page.tsx')),
});

const jobs = createRoute({
  getParentRoute: () => root,
  path: '/jobs',
  component: lazyRouteComponent(() => import('../pages/queues/page.tsx')),
});

const routeTree = root.addChildren([
  overview,
  events,
  event,
  runs,
  run,
  replays,
  replay,
  functions,
  oneFunction,
  errors,
  errorGroup,
  alerts,
  apps,
  app,
  whatIf,
  webhooks,
  webhook,
  destinations,
  webhookIssues,
  holding,
  keys,
  environments,
  users,
  account,
  audit,
  settings,
  jobs,
]);

export const router = createRouter({
  routeTree,
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  defaultPendingComponent: Loading,
  defaultErrorComponent: ErrorPage,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
