/** The URL under which the app registers. */
import type { AppRequest } from './app-request.ts';
import { ConfigError, ServeError } from './errors.ts';
import { DEV_HINT, type Settings, toOrigin } from './settings.ts';

export interface OwnAddress {
  path?: string | undefined;
  serveOrigin?: string | undefined;
}

/** Outside dev mode, ignores the request: a forged Host header would redirect all events of the service. */
export function urlOf(
  request: AppRequest,
  { path = pathOf(request), serveOrigin }: OwnAddress,
  settings: Settings,
): string {
  const origin = serveOrigin ? toOrigin(serveOrigin) : settings.serveOrigin;
  if (origin) return `${origin}${path}`;
  if (settings.mode === 'dev') return `${originOf(request)}${path}`;
  throw new ConfigError(
    'To register, the app must know its own address: set SERVICE_SERVE_ORIGIN (or pass serveOrigin to serve()), ' +
      `such as https://shop.example. ${DEV_HINT}`,
  );
}

/** Ignores x-forwarded-host on purpose, even in dev mode. */
function originOf({ header, secure }: AppRequest): string {
  const forwarded = header('x-forwarded-proto')?.split(',')[0]?.trim();
  const protocol = forwarded === 'http' || forwarded === 'https' ? forwarded : secure ? 'https' : 'http';
  const host = header('host');
  if (!host) throw new ServeError(400, 'The request names no host: set serveOrigin');
  return `${protocol}://${host}`;
}

export function pathOf({ url }: AppRequest): string {
  return url.split('?', 1)[0] ?? '';
}
