/** Where a request comes from. */
import type { Context } from 'koa';

/** The sender's address: of the connection, or as far up X-Forwarded-For as TRUST_PROXY allows. Some proxies add the port, which is another
 *  one for every connection. */
export function clientAddress(ctx: Context): string {
  const [, bracketed, v4] = /^(?:\[(.+)\](?::\d+)?|([\d.]+):\d+)$/.exec(ctx.ip) ?? [];
  return bracketed ?? v4 ?? ctx.ip;
}
