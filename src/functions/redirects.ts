/** Redirects of apps that repeat the same request at another URL: 307 and 308. Other statuses would change the method.
 *  Address rules apply to each target, because they apply to connections (http-agent.ts). */
import type { IncomingHttpHeaders } from 'node:http';
import { type Dispatcher, request } from 'undici';

const MAX_REDIRECTS = 3;

/** The redirect is not followed. */
export class RedirectRefused extends Error {
  override name = 'RedirectRefused';
}

/** The URL to which the same request is sent again. Query parameters missing from the target are kept: they select function and step.
 *  @param followed number of earlier redirects
 *  @returns undefined if the response is not a redirect to follow
 *  @throws RedirectRefused */
export function redirectTarget(
  from: string,
  { status, headers }: { status: number; headers: IncomingHttpHeaders },
  followed: number,
): string | undefined {
  const { location } = headers;
  if ((status !== 307 && status !== 308) || !location) return undefined;
  if (followed >= MAX_REDIRECTS) throw new RedirectRefused(`more than ${MAX_REDIRECTS} redirects in a row`);
  const source = new URL(from);
  const target = URL.parse(location, from);
  if (!target || !['http:', 'https:'].includes(target.protocol)) {
    throw new RedirectRefused('the target of the redirect is not an HTTP URL');
  }
  // The event would travel unencrypted.
  if (source.protocol === 'https:' && target.protocol === 'http:') {
    throw new RedirectRefused(`the redirect leads from HTTPS to HTTP, at ${target.host}`);
  }
  for (const [name, value] of source.searchParams) {
    if (!target.searchParams.has(name)) target.searchParams.append(name, value);
  }
  target.username = '';
  target.password = '';
  target.hash = '';
  return target.href;
}

/** @throws RedirectRefused; AddressBlocked; errors of undici */
export async function requestFollowing(
  url: string,
  options: {
    dispatcher: Dispatcher;
    signal: AbortSignal;
    method?: Dispatcher.HttpMethod;
    headers?: Record<string, string>;
    body?: string;
  },
): Promise<Dispatcher.ResponseData> {
  let target = url;
  for (let followed = 0; ; followed++) {
    const response = await request(target, options);
    const { statusCode, headers } = response;
    try {
      const next = redirectTarget(target, { status: statusCode, headers }, followed);
      if (next === undefined) return response;
      target = next;
    } catch (error) {
      discard(response);
      throw error;
    }
    discard(response);
  }
}

/** The body of a redirect is unused, and may be endless. */
function discard({ body }: Dispatcher.ResponseData): void {
  body.on('error', () => {}).destroy();
}
