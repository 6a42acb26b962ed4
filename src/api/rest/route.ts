/** A route of the REST API, declared once: its schemas validate what comes in, and describe it in the OpenAPI document. */
import type { default as Router, RouterMiddleware } from '@koa/router';
import type { Context } from 'koa';
import { type HttpMethodEnum, koaBody } from 'koa-body';
import { z } from 'zod';
import { type ErrorCode, ServiceError } from '../../errors.ts';
import { ENV_SELECTORS } from '../../functions/headers.ts';
import type { Access, Principal } from '../../model/auth/access.ts';
import { PRODUCTION } from '../../model/environment.ts';
import { describe, parseExact } from '../../model/values/json.ts';
import type { Environments } from '../../store/environments/environments.ts';
import { auditEntryOf } from '../auth/audit-entry.ts';
import type { AuditLogger } from '../auth/audit-log.ts';
import { allow, environmentOf } from '../auth/guard.ts';
import { principalOf } from '../auth/principals.ts';
import { bodyError, describeType, isJsonType, mediaTypeOf, readBody, refuseEncoding } from '../http/body.ts';
import { strict, unknownField } from '../http/unknown-fields.ts';
import type { Query } from '../http/urlencoded.ts';
import { ListPage } from './list-response.ts';

type Schema = z.ZodType;

type Parsed<S extends Schema | undefined> = S extends Schema ? z.output<S> : undefined;

export interface Input<Params, Query, Body> {
  params: Params;
  query: Query;
  body: Body;
  /** Name of the environment that the caller selected, production where it selected none. Of an account's route: production. */
  env: string;
  /** The request's own, which events that it makes carry. */
  requestId: string;
  /** Whom the guard has let in. */
  caller: Principal;
  /** Scheme and host by which the caller reached the service. */
  origin: string;
}

export interface Route {
  method: 'get' | 'post' | 'put' | 'delete';
  /** In the router's form: `/v1/events/:id`. */
  path: string;
  tag: string;
  /** What the caller must be allowed to. */
  access: Access;
  /** What it is about: one environment, which `x-service-env` selects, or the whole account. */
  about: 'environment' | 'account';
  summary: string;
  description?: string;
  params?: z.ZodObject;
  query?: z.ZodObject;
  body?: Schema;
  /** Where the body holds an event: it is read without losing a digit of it, up to so many bytes. */
  eventLimit?: () => number;
  /** The largest body, where it is not the usual one. */
  bodyLimitBytes?: number;
  /** false: it changes nothing, though its method is not GET; then it is not audited. */
  changes?: false;
  /** Status of the answer; default 200, or 204 where there is no `data`. */
  status?: number;
  /** Schema of the answer's `data`; none: the answer has no body. */
  data?: Schema;
  /** Errors beside those that any route may answer with. */
  errors: ErrorCode[];
  // Routes of different inputs share one list.
  handle(input: Input<never, never, never>): Promise<Reply>;
}

/** What a handler answers with; `metadata` joins `fetched_at`. */
export interface Reply {
  data?: unknown;
  metadata?: Record<string, unknown>;
}

/** Types a route's handler by the schemas beside it. */
export function route<
  Params extends z.ZodObject | undefined = undefined,
  Query extends z.ZodObject | undefined = undefined,
  Body extends Schema | undefined = undefined,
>(
  definition: Omit<Route, 'handle' | 'params' | 'query' | 'body'> & {
    params?: Params;
    query?: Query;
    body?: Body;
    handle(input: Input<Parsed<Params>, Parsed<Query>, Parsed<Body>>): Promise<Reply>;
  },
): Route {
  const { params, query, body } = definition;
  return { ...definition, params, query: strict(query), body: strict(body) } as unknown as Route;
}

/** A transform of 65,536 characters fits in, however it is escaped. */
export const BODY_LIMIT_BYTES = 524_288;
const NO_FIELDS = z.strictObject({});

export interface MountDeps {
  environments: Environments;
  auditor: AuditLogger;
}

export function mount(router: Router, routes: readonly Route[], deps: MountDeps): void {
  for (const one of routes) {
    router[one.method](one.path, allowing(one), bodyReader(one), (ctx) => serve(ctx as unknown as Context, one, deps));
  }
}

/** Of a route that takes no body, one that has a field all the same is to be told so. */
function bodyReader({ method, body, eventLimit, bodyLimitBytes = BODY_LIMIT_BYTES }: Route): RouterMiddleware {
  if (method === 'get') return (_, next) => next();
  const read = eventLimit ? readEvent(eventLimit) : readJson(bodyLimitBytes);
  return (ctx, next) => {
    refuseEncoding(ctx.req);
    if (body) demandJson(ctx.get('content-type'));
    return read(ctx, next);
  };
}

function readJson(limitBytes: number): RouterMiddleware {
  return koaBody({
    // A DELETE takes no body, and whoever sends one is told so.
    parsedMethods: ['POST', 'PUT', 'PATCH', 'DELETE'] as HttpMethodEnum[],
    jsonLimit: limitBytes,
    jsonStrict: false,
    urlencoded: false,
    text: false,
    onError: (error) => {
      throw bodyError(error, limitBytes) ?? new ServiceError('body_not_json', { detail: error.message, cause: error });
    },
  }) as unknown as RouterMiddleware;
}

function readEvent(limitBytes: () => number): RouterMiddleware {
  return async (ctx, next) => {
    const text = (await readBody(ctx.req, limitBytes())).toString('utf8');
    try {
      (ctx.request as { body?: unknown }).body = text === '' ? undefined : parseExact(text);
    } catch (error) {
      throw new ServiceError('body_not_json', { detail: (error as Error).message, cause: error });
    }
    await next();
  };
}

/** @throws ServiceError content_type_unsupported */
function demandJson(contentType: string): void {
  const mediaType = mediaTypeOf(contentType);
  if (isJsonType(mediaType)) return;
  throw new ServiceError('content_type_unsupported', {
    detail: `got ${describeType(mediaType)}; send application/json`,
  });
}

/** Before anything of the request is read. */
function allowing(one: Route): RouterMiddleware {
  return async (ctx, next) => {
    allow(ctx as unknown as Context, one);
    await next();
  };
}

async function serve(ctx: Context, one: Route, { environments, auditor }: MountDeps): Promise<void> {
  const reply = await one.handle({
    params: check(one.params, ctx.params, 'path parameter') as never,
    query: check(one.query ?? NO_FIELDS, ownParameters(ctx.query), 'query parameter') as never,
    body: check(one.body ?? NO_FIELDS, bodyOf(ctx, one), 'field') as never,
    env: one.about === 'environment' ? await selectedEnvironment(ctx, environments) : PRODUCTION,
    requestId: ctx.state.requestId as string,
    caller: principalOf(ctx),
    origin: `${ctx.protocol}://${ctx.host}`,
  });
  if (one.method !== 'get' && one.changes !== false) await auditor.note(ctx, auditEntryOf(ctx, one, reply.data));
  ctx.status = one.status ?? (one.data ? 200 : 204);
  if (one.data) {
    const metadata = { fetched_at: new Date().toISOString(), ...reply.metadata };
    ctx.type = 'json';
    ctx.body = reply.data instanceof ListPage ? reply.data.toJson(metadata) : { data: reply.data, metadata };
  }
}

/** @throws ServiceError environment_unknown, environment_deleting */
async function selectedEnvironment(ctx: Context, environments: Environments): Promise<string> {
  const name = environmentOf(ctx);
  if (name === PRODUCTION) return name;
  const environment = await environments.findOrFetch(name);
  // What was written to it now would be left behind.
  if (environment?.deletingAt !== undefined) throw new ServiceError('environment_deleting', { detail: describe(name) });
  if (!environment) {
    throw new ServiceError('environment_unknown', {
      detail: `got ${describe(name)}; GET /v1/environments lists what there is`,
    });
  }
  return name;
}

/** The environment may be selected of every route. */
export function ownParameters(query: Query): Query {
  return Object.fromEntries(Object.entries(query).filter(([name]) => !ENV_SELECTORS.includes(name)));
}

function bodyOf({ request }: Context, one: Route): unknown {
  const { body } = request as unknown as { body?: unknown };
  return one.body ? body || undefined : body || {};
}

/** @throws ServiceError input_invalid, naming the place, what it got and what it takes */
export function check<S extends Schema>(schema: S | undefined, given: unknown, place: string): z.output<S> | undefined {
  if (!schema) return undefined;
  const { success, data, error } = schema.safeParse(given);
  if (success) return data;
  const unknown = error.issues.find((issue) => issue.code === 'unrecognized_keys');
  if (unknown) {
    const name = unknown.keys[0] as string;
    const field = [...unknown.path, shortened(name)].join('.');
    throw new ServiceError('input_invalid', {
      detail: `${place} "${field}": ${unknownField(schema, unknown.path, name)}`,
      facts: { field },
    });
  }
  const { path, message } = error.issues[0] as z.core.$ZodIssue;
  const got = path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key], given);
  const name = path.length > 0 ? `${place} "${path.join('.')}"` : 'the body';
  throw new ServiceError('input_invalid', {
    detail: `${name}: got ${describe(got)}: ${message}`,
    facts: { field: path.join('.') },
  });
}

/** A name of the caller's own, in a message. */
function shortened(name: string): string {
  return name.length > 64 ? `${name.slice(0, 64)}…` : name;
}
