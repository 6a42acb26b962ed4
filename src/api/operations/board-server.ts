/** Serves Bull Board with what the API has anyway: its router, its reader of JSON bodies and its sender of files. `@bull-board/koa` does the same,
 *  and brings sixty packages. */
import { join } from 'node:path';
import type { IServerAdapter } from '@bull-board/api/typings/app';
import { send } from '@koa/send';
import ejs from 'ejs';
import type { Next } from 'koa';
import { readJson } from '../http/json-body.ts';
import { type Context, type Middleware, type RouteContext, Router } from '../http/router.ts';

type Given<Setter extends keyof IServerAdapter> = Parameters<IServerAdapter[Setter]>[0];

const BODY_LIMIT_BYTES = 1_048_576;

/** `createBullBoard` calls the setters; `middleware` comes after it. */
export class BoardServer implements IServerAdapter {
  readonly #basePath: string;
  readonly #router = new Router({ strict: true });
  #queues: Given<'setQueues'> = new Map();
  #uiConfig: Given<'setUIConfig'> = {};
  #views = '';
  #onError: Given<'setErrorHandler'> | undefined;

  /** @param basePath that the board is served at: `/queues` */
  constructor(basePath: string) {
    this.#basePath = basePath;
  }

  setQueues(queues: Given<'setQueues'>): this {
    this.#queues = queues;
    return this;
  }

  setUIConfig(config: Given<'setUIConfig'>): this {
    this.#uiConfig = config;
    return this;
  }

  setViewsPath(folder: string): this {
    this.#views = folder;
    return this;
  }

  setErrorHandler(handler: Given<'setErrorHandler'>): this {
    this.#onError = handler;
    return this;
  }

  setStaticPath(path: string, folder: string): this {
    this.#router.get(`${path}/*file`, (ctx, next) => sendFile(ctx, ctx.path.slice(path.length), folder, next));
    return this;
  }

  setEntryRoute({ route, handler }: Given<'setEntryRoute'>): this {
    for (const path of [route].flat()) {
      this.#router.get(path, async (ctx) => {
        const { name, params } = handler({ basePath: this.#basePath, uiConfig: this.#uiConfig });
        ctx.type = 'html';
        ctx.body = await ejs.renderFile(join(this.#views, name), params);
      });
    }
    return this;
  }

  setApiRoutes(routes: Given<'setApiRoutes'>): this {
    const read = readJson(BODY_LIMIT_BYTES);
    for (const { method, route, handler } of routes) {
      for (const verb of [method].flat()) {
        for (const path of [route].flat()) this.#router.on(verb, path, read, (ctx) => this.#answer(ctx, handler));
      }
    }
    return this;
  }

  /** The board's routes begin after its base path. */
  middleware(): Middleware {
    const routes = this.#router.routes();
    return async (ctx, next) => {
      const { path } = ctx;
      ctx.path = path.slice(this.#basePath.length) || '/';
      await routes(ctx, async () => {
        ctx.path = path;
        await next();
      });
      ctx.path = path;
    };
  }

  async #answer(ctx: RouteContext, handler: Given<'setApiRoutes'>[number]['handler']): Promise<void> {
    try {
      const { status, body } = await handler({
        queues: this.#queues,
        uiConfig: this.#uiConfig,
        params: ctx.params,
        query: ctx.query,
        body: (ctx.state.body ?? {}) as Record<string, unknown>,
        headers: ctx.headers as Record<string, string>,
      });
      ctx.status = status ?? 200;
      ctx.body = body;
    } catch (error) {
      if (!this.#onError) throw error;
      const { status, body } = this.#onError(error as Error);
      ctx.status = status ?? 500;
      ctx.body = body;
      ctx.app.emit('error', error, ctx);
    }
  }
}

/** A missing file, or a path outside the folder, is the next middleware's. */
async function sendFile(ctx: Context, path: string, root: string, next: Next): Promise<void> {
  try {
    await send(ctx, path, { root });
  } catch (error) {
    if (((error as { status?: number }).status ?? 500) >= 500) throw error;
    await next();
  }
}
