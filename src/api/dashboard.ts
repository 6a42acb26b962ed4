/** The dashboard: its files, open to everybody, since they tell nothing; and its page, which the guard stands before. Built by
 *  `npm run build` into dashboard/dist. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { send } from '@koa/send';
import type { Context, Next } from 'koa';
import { answerPage, inlineStyle } from './http/html-page.ts';

const DIST = resolve(import.meta.dirname, '../../dashboard/dist');
/** Where a nonce is to stand in the page (dashboard/vite.config.ts). */
const NONCE = /__CSP_NONCE__/g;
const ASSETS = '/assets';
const ICON = '/favicon.svg';
const A_YEAR_MS = 31_536_000_000;

/** First parts of the paths that are pages of the dashboard (dashboard/src/app/routes.tsx). */
const PAGES = new Set([
  '',
  'events',
  'runs',
  'functions',
  'apps',
  'webhooks',
  'held-events',
  'keys',
  'environments',
  'users',
  'audit-log',
  'settings',
  'jobs',
]);

/** Scripts and styles are files of its own; the code editor alone writes a style, which the nonce lets in. It may send copies of
 *  events to a service on the reader's own machine, and frames Bull Board. */
function policy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "connect-src 'self' http://127.0.0.1:* http://localhost:*",
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** Names of files under assets/ change with their content. */
export async function dashboardFiles(ctx: Context, next: Next): Promise<void> {
  if (ctx.method !== 'GET') return next();
  if (ctx.path === ICON) return sendFile(ctx, ICON, { root: DIST });
  if (!ctx.path.startsWith(`${ASSETS}/`)) return next();
  const lasting = { maxage: A_YEAR_MS, immutable: true };
  await sendFile(ctx, ctx.path.slice(ASSETS.length), { root: join(DIST, ASSETS), ...lasting });
}

/** The one that was written compressed, to whoever takes that. What there is not, or lies outside, is answered 404. */
async function sendFile(ctx: Context, path: string, options: Parameters<typeof send>[2]): Promise<void> {
  ctx.vary('accept-encoding');
  try {
    await send(ctx, path, options);
  } catch (error) {
    if (((error as { status?: number }).status ?? 500) >= 500) throw error;
  }
}

/** The page is read anew each time, since a deploy, or a change while it is developed, may bring another. */
export function dashboardPage(dist = DIST) {
  return async (ctx: Context, next: Next): Promise<void> => {
    if (ctx.method !== 'GET' || !PAGES.has(ctx.path.split('/', 2)[1] ?? '')) return next();
    const page = await readPage(dist);
    if (page === undefined) {
      ctx.status = 503;
      return answerPage(ctx, NOT_BUILT, NOT_BUILT_STYLE);
    }
    const nonce = randomBytes(16).toString('base64');
    ctx.type = 'html';
    ctx.set('content-security-policy', policy(nonce));
    ctx.set('cache-control', 'no-store');
    ctx.body = page.replace(NONCE, nonce);
  };
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
<body><h1>The dashboard has not been built</h1><p>Run <code>npm run build</code> where this service is installed, and load this page again.
The API works meanwhile: <a href="/docs">/docs</a>.</p></body></html>`;
