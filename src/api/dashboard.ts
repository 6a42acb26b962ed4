/** Serves the dashboard from dashboard/dist, which `npm run build` builds: its files without authentication, because they contain no
 *  data, and its page behind the guard. While Redis cannot tell who the user is, the page is served to anybody: it contains no data
 *  either, and recovers by itself. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { send } from '@koa/send';
import type { Next } from 'koa';
import { ServiceError } from '../errors.ts';
import { toServiceError } from '../store/redis/connection/connection.ts';
import { inlineStyle, sendPage } from './http/html-page.ts';
import type { Context } from './http/router.ts';

const DIST = resolve(import.meta.dirname, '../../dashboard/dist');
/** Placeholder of the nonce in the page (dashboard/vite.config.ts). */
const NONCE = /__CSP_NONCE__/g;
const ASSETS = '/assets';
const ICON = '/favicon.svg';
const YEAR_MS = 31_536_000_000;

/** First segments of the paths of the dashboard's pages (dashboard/src/app/routes.tsx). */
const PAGES = new Set([
  '',
  'events',
  'replays',
  'runs',
  'alerts',
  'errors',
  'functions',
  'apps',
  'webhooks',
  'destinations',
  'webhook-issues',
  'held-events',
  'keys',
  'environments',
  'users',
  'account',
  'audit-log',
  'settings',
  'jobs',
]);

/** First segments of the paths of everything else. */
const FOR_PROGRAMS = new Set([
  'admin',
  'api',
  'assets',
  'auth',
  'dev',
  'docs',
  'e',
  'fn',
  'invoke',
  'metrics',
  'v0',
  'v1',
]);
const RETRY_AFTER_SECONDS = 5;

/** Permits the dashboard's own scripts and styles, the code editor's inline style by its nonce, and sending copies of events to a
 *  service on the user's machine. */
function policy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "connect-src 'self' http://127.0.0.1:* http://localhost:*",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** Files under assets/ never change: their names contain a hash of their content. */
export async function dashboardFiles(ctx: Context, next: Next): Promise<void> {
  if (ctx.method !== 'GET') return next();
  if (ctx.path === ICON) return sendFile(ctx, ICON, { root: DIST });
  if (!ctx.path.startsWith(`${ASSETS}/`)) return next();
  const cache = { maxage: YEAR_MS, immutable: true };
  await sendFile(ctx, ctx.path.slice(ASSETS.length), { root: join(DIST, ASSETS), ...cache });
}

/** Sends the compressed file to clients that accept it. A missing file, or a path outside, is answered with 404. */
async function sendFile(ctx: Context, path: string, options: Parameters<typeof send>[2]): Promise<void> {
  ctx.vary('accept-encoding');
  try {
    await send(ctx, path, options);
  } catch (error) {
    if (((error as { status?: number }).status ?? 500) >= 500) throw error;
  }
}

export function dashboardPage(dist = DIST) {
  return async (ctx: Context, next: Next): Promise<void> => {
    if (ctx.method !== 'GET' || !PAGES.has(firstSegment(ctx))) return next();
    await servePage(ctx, dist);
  };
}

/** Mounted before the guard. */
export function pageDuringOutage(dist = DIST) {
  return async (ctx: Context, next: Next): Promise<void> => {
    if (ctx.method !== 'GET' || !PAGES.has(firstSegment(ctx)) || !wantsHtml(ctx)) return next();
    try {
      await next();
    } catch (thrown) {
      const error = toServiceError(thrown);
      if (!(error instanceof ServiceError) || (error.code !== 'unavailable' && error.code !== 'overloaded'))
        throw error;
      await servePage(ctx, dist);
      ctx.status = error.status;
      ctx.set('retry-after', String(error.retryAfterSeconds ?? RETRY_AFTER_SECONDS));
    }
  };
}

/** Mounted after all routes: people who follow a dead link get a page, programs get JSON. */
export function notFoundPage(dist = DIST) {
  return async (ctx: Context, next: Next): Promise<void> => {
    if (ctx.method !== 'GET' || !wantsHtml(ctx) || FOR_PROGRAMS.has(firstSegment(ctx))) return next();
    await servePage(ctx, dist);
    if (ctx.status === 200) ctx.status = 404;
  };
}

function firstSegment(ctx: Context): string {
  return ctx.path.split('/', 2)[1] ?? '';
}

function wantsHtml(ctx: Context): boolean {
  return ctx.get('accept').includes('text/html');
}

/** Reads the page for each request, because a deploy may have replaced it. */
async function servePage(ctx: Context, dist: string): Promise<void> {
  const page = await readPage(dist);
  if (page === undefined) {
    ctx.status = 503;
    return sendPage(ctx, NOT_BUILT, NOT_BUILT_STYLE);
  }
  const nonce = randomBytes(16).toString('base64');
  ctx.status = 200;
  ctx.type = 'html';
  ctx.set('content-security-policy', policy(nonce));
  ctx.set('cache-control', 'no-store');
  ctx.body = page.replace(NONCE, nonce);
}

async function readPage(dist: string): Promise<string | undefined> {
  try {
    return await readFile(join(dist, 'index.html'), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

const NOT_BUILT_STYLE = inlineStyle(
  'body { font: 16px/1.5 system-ui, sans-serif; max-width: 36rem; margin: 4rem auto; padding: 0 1rem; }',
);
const NOT_BUILT = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Tidegate</title>${NOT_BUILT_STYLE.tag}</head>
<body><h1>The dashboard is not built</h1><p>Run <code>npm run build</code> where this service is installed, then reload this page.
The API works without it: <a href="/docs">/docs</a>.</p></body></html>`;
