/** Measures every request: how it was answered, and how long that took. Before all else, so that what it sees is final. */
import type { Context, Next } from 'koa';
import { CATALOGUE } from '../../errors.ts';
import type { MetricsRecorder } from '../../metrics/recorder.ts';
import { BOARD_PATH, isBoard } from '../operations/board.ts';

/** What has no route: the dashboard and its files, and whatever strangers try. */
const OTHER = 'other';

export function recordRequestMetrics(meter: MetricsRecorder) {
  return async (ctx: Context, next: Next): Promise<void> => {
    const startedAt = performance.now();
    await next();
    const route = routeOf(ctx);
    meter.httpRequest(ctx.method, route, ctx.status, performance.now() - startedAt);
    if (ctx.status >= 400) meter.httpError(route, codeOf(ctx));
  };
}

/** The route's template, never the path: it holds keys, and there is no end of paths. */
function routeOf(ctx: Context): string {
  // Its own routes do not say where it stands.
  if (isBoard(ctx.path)) return BOARD_PATH;
  const matched: unknown = ctx._matchedRoute;
  return typeof matched === 'string' ? matched : OTHER;
}

function codeOf(ctx: Context): string {
  const code = (ctx.state.errorCode as string | undefined) ?? '';
  return Object.hasOwn(CATALOGUE, code) ? code : OTHER;
}
