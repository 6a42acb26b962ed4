/** Platforms that stop the process with the response unless they are told of the work that is left: how each asks an app, and what it has for that work. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createApp, defineEventHandler, toNodeListener } from 'h3';
import { H3 } from 'h3-2';
import { Hono } from 'hono';
import { serve as serveAstro } from 'tidegate/astro';
import { serve as serveCloudflare } from 'tidegate/cloudflare';
import { serve as serveFetch } from 'tidegate/fetch';
import { serve as serveHono } from 'tidegate/hono';
import { serve as serveNext, servePages } from 'tidegate/next';
import { serve as serveNitro } from 'tidegate/nitro';
import { serve as serveRemix } from 'tidegate/remix';
import { serve as serveSvelteKit } from 'tidegate/sveltekit';
import type { ServeOptions } from '../src/handler.ts';

type Work = Promise<unknown>;

/** As Cloudflare's: its method works on its object only. */
export class ExecutionContext {
  readonly #work: Work[] = [];

  waitUntil(work: Work): void {
    this.#work.push(work);
  }

  get work(): readonly Work[] {
    return this.#work;
  }
}

export type Platform = (options: ServeOptions, request: Request, context: ExecutionContext) => Promise<Response>;

const VERCEL = Symbol.for('@vercel/request-context');
const NEXT = Symbol.for('@next/request-context');

export const PLATFORMS: Record<string, Platform> = {
  'Cloudflare Workers': async (options, request, context) => serveCloudflare(options)(request, {}, context),
  'Cloudflare Pages': async (options, request, context) => {
    const waitUntil = (work: Work) => context.waitUntil(work);
    return serveCloudflare(options)({ request, env: {}, waitUntil });
  },
  'Hono on Cloudflare': async (options, request, context) => {
    const app = new Hono().use(serveHono(options));
    return app.fetch(request, {}, Object.assign(context, { passThroughOnException() {}, props: {} }));
  },
  'SvelteKit on Cloudflare': async (options, request, ctx) =>
    serveSvelteKit(options).POST({ request, platform: { env: {}, ctx, context: ctx } }),
  'Astro on Cloudflare': async (options, request, cfContext) =>
    serveAstro(options).POST({ request, locals: { cfContext } }),
  'Astro 5 on Cloudflare': async (options, request, ctx) =>
    serveAstro(options).POST({ request, locals: { runtime: { env: {}, ctx } } }),
  'React Router on Cloudflare': async (options, request, ctx) =>
    serveRemix(options).action({ request, context: { cloudflare: { env: {}, ctx } } }),
  'h3, version 2, on Cloudflare': async (options, request, context) => {
    const waitUntil = (work: Work) => context.waitUntil(work);
    return new H3().use(serveNitro(options)).fetch(Object.assign(request, { waitUntil }));
  },
  'Nitro, which gives events a method': (options, request, context) => {
    const serve = serveNitro(options);
    const handler = defineEventHandler((event) => {
      const waitUntil = (work: Work) => context.waitUntil(work);
      return serve(Object.assign(event, { waitUntil }));
    });
    return overHttp(request, toNodeListener(createApp().use(handler)));
  },
  'Netlify Functions': async (options, request, context) => serveFetch(options)(request, context),
  'Astro on Netlify': async (options, request, context) =>
    withGlobal('Netlify', { context }, () => serveAstro(options).POST({ request, locals: {} })),
  'Next.js on Netlify': async (options, request, context) =>
    withGlobal(NEXT, { get: () => context }, () => serveNext(options).POST(request)),
  "Vercel Functions and Next.js's app router": async (options, request, context) =>
    withGlobal(VERCEL, { get: () => context }, () => serveNext(options).POST(request)),
  "Next.js's pages router on Vercel": async (options, request, context) =>
    withGlobal(VERCEL, { get: () => context }, () => overHttp(request, servePages(options))),
};

/** As the platform has it while it runs a function. */
async function withGlobal<T>(name: string | symbol, value: unknown, run: () => Promise<T>): Promise<T> {
  const all = globalThis as Record<string | symbol, unknown>;
  all[name] = value;
  try {
    return await run();
  } finally {
    delete all[name];
  }
}

async function overHttp(request: Request, listener: Parameters<typeof createServer>[1]): Promise<Response> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { pathname, search } = new URL(request.url);
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}${search}`;
    const response = await fetch(url, { method: request.method, body: await request.text() });
    return new Response(await response.text(), { status: response.status });
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}
