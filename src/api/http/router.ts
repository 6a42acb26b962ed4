/** Koa and its router with this API's types: the request state, and path parameters named by the path. */
import { createRequire } from 'node:module';
import type KoaRouter from '@koa/router';
import type { DefaultContext, Next, ParameterizedContext } from 'koa';
import type { ErrorCode } from '../../errors.ts';
import type { AccessLevel, Principal } from '../../model/auth/access.ts';
import type { Environment } from '../../model/environment.ts';
import { paramsCheck } from './path-ids.ts';

/** The route of Bull Board that a request matches. */
export interface BoardRoute {
  /** `PUT /api/queues/:queueName/pause` */
  name: string;
  summary: string;
  params: Record<string, string>;
}

export interface Proven {
  environment: Environment | undefined;
  /** The signing key that authenticated the app; undefined for other credentials, and in dev mode. */
  signingKey?: string | undefined;
}

/** `ctx.state`. A field is undefined until its middleware has run. */
export interface RequestState {
  /** A ULID, also in the response's `x-request-id`. */
  requestId: string;
  /** The request target has no path, such as `http://[`. */
  hasNoPath: boolean;
  /** The authenticated principal; undefined if there is none, or before authentication. */
  principal: Principal | undefined;
  /** The environment of the selected name when the request was authenticated for it (auth/proven-environment.ts). */
  proven: Proven | undefined;
  /** The principal's access to what the route concerns, once it is known. */
  granted: AccessLevel | undefined;
  /** Whether the body had not arrived yet when access was checked. */
  isBodyAwaited: boolean;
  errorCode: ErrorCode | undefined;
  boardRoute: BoardRoute | undefined;
}

interface ServiceContext extends DefaultContext {
  /** The path template of the route that handles the request. */
  _matchedRoute?: string | RegExp;
}

export type Context = ParameterizedContext<RequestState, ServiceContext>;

/** `/v1/runs/:id/steps/:step_id` has `id` and `step_id`. */
type PathParams<Path extends string> = string extends Path
  ? Record<string, string>
  : Path extends `${string}:${infer Name}/${infer Rest}`
    ? Record<Name, string> & PathParams<`/${Rest}`>
    : Path extends `${string}:${infer Name}`
      ? Record<Name, string>
      : Record<never, string>;

export type RouteContext<Path extends string = string> = Context & { params: PathParams<Path> };

export type Middleware = (ctx: Context, next: Next) => unknown;
export type Handler<Path extends string = string> = (ctx: RouteContext<Path>, next: Next) => unknown;

/** Declared here and not imported: the ES module would load undici (node-http.ts). */
const Implementation: typeof KoaRouter = createRequire(import.meta.url)('@koa/router');

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'all'] as const;
type Method = (typeof METHODS)[number];

export class Router {
  readonly #router: KoaRouter<RequestState, ServiceContext>;

  /** @param strict whether a trailing slash makes a different path */
  constructor({ prefix, strict = false }: { prefix?: string; strict?: boolean } = {}) {
    this.#router = new Implementation({ strict, ...(prefix !== undefined && { prefix }) });
  }

  /** Runs before the routes of this router. */
  use(middleware: Middleware): this {
    this.#router.use(middleware);
    return this;
  }

  /** Path parameters are checked after the other handlers, which check access, and before the last one. */
  on<const Path extends string>(method: Method, path: Path, ...handlers: Handler<Path>[]): this {
    const check = paramsCheck(path);
    const before = handlers.slice(0, -1) as Handler[];
    const last = handlers.at(-1) as Handler;
    this.#router[method](path, ...before, ...(check ? [check] : []), last);
    return this;
  }

  get<const Path extends string>(path: Path, ...handlers: Handler<Path>[]): this {
    return this.on('get', path, ...handlers);
  }

  post<const Path extends string>(path: Path, ...handlers: Handler<Path>[]): this {
    return this.on('post', path, ...handlers);
  }

  routes(): Middleware {
    return this.#router.routes() as Middleware;
  }
}

/** Whether the client uses https: the request says so, or PUBLIC_URL does. */
export function isSecure(ctx: Context, publicUrl: string | undefined): boolean {
  return ctx.secure || publicUrl?.startsWith('https:') === true;
}
