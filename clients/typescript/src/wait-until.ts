/** Work that continues after a response, on platforms that otherwise stop the process with the response. */
import type { AppRequest } from './app-request.ts';

interface Waiting {
  waitUntil(work: Promise<unknown>): void;
}

interface Globals {
  [name: symbol]: { get?(): unknown } | undefined;
  Netlify?: { context?: unknown };
}

/** The `waitUntil` of the first context that has one; platforms and frameworks hand contexts to handlers. */
export function waitUntilOf(...contexts: readonly unknown[]): AppRequest['waitUntil'] {
  const found = contexts.find(isWaiting);
  // Called as a method, because Cloudflare's function checks its object.
  return found && ((work) => found.waitUntil(work));
}

/** The `waitUntil` of Vercel and Netlify, and of Next.js elsewhere, which have it without a context. */
export function waitUntilOfPlatform(): AppRequest['waitUntil'] {
  const all = globalThis as Globals;
  const contexts = ['@vercel/request-context', '@next/request-context'].map((name) => all[Symbol.for(name)]?.get?.());
  return waitUntilOf(...contexts, all.Netlify?.context);
}

function isWaiting(context: unknown): context is Waiting {
  return typeof (context as Partial<Waiting> | null | undefined)?.waitUntil === 'function';
}
