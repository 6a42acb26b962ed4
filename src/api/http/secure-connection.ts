import type { Context } from './router.ts';

/** Whether the client uses https: the request says so, or PUBLIC_URL does. */
export function isSecure(ctx: Context, publicUrl: string | undefined): boolean {
  return ctx.secure || publicUrl?.startsWith('https:') === true;
}
