/** Serves the routes of the REST API: checks access, reads and validates the input, runs the handler, writes the audit
 *  entry and the response. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Next } from 'koa';
import type { HttpMethodEnum } from 'koa-body';
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { type AccessLevel, accessAnywhere, accessTo, accessToAll } from '../../model/auth/access.ts';
import { PRODUCTION, refOf } from '../../model/environment.ts';
import { describe, parseExact } from '../../model/values/json.ts';
import { loadOnce } from '../../model/values/load-once.ts';
import type { EventLimit } from '../../store/environments/event-limits.ts';
import type { Store } from '../../store/store.ts';
import type { AuditLogger } from '../auth/audit-logger.ts';
import { allow, allowIn, environmentOf } from '../auth/guard.ts';
import { type Principals, principalOf } from '../auth/principals.ts';
import { rememberProven, requireProven } from '../auth/proven-environment.ts';
import {
  bodyError,
  bodyTooLarge,
  describeType,
  isJsonType,
  mediaTypeOf,
  parseJson,
  readBody,
  rejectEncoding,
} from '../http/body.ts';
import { dialectOfRequest } from '../http/dialect.ts';
import type { Context, Handler, Middleware, RouteContext, Router } from '../http/router.ts';
import { isOptional, ownParameters, validate } from '../http/validation.ts';
import { auditEntryOf } from './audit-entry.ts';
import { respondOnce } from './idempotency.ts';
import { ListPage } from './lists.ts';
import type { GivenInput, Reply, Route } from './route.ts';
import type { TargetNames } from './target-names.ts';

/** Room for a transform of 65,536 characters, however it is escaped. */
export const BODY_LIMIT_BYTES = 524_288;
const NO_FIELDS = z.strictObject({});

export interface MountDeps extends Pick<Store, 'environments' | 'idempotentResponses'> {
  principals: Principals;
  auditLogger: AuditLogger;
  targetNames: Pick<TargetNames, 'of'>;
}

export function mount(router: Router, routes: readonly Route[], deps: MountDeps): void {
  for (const route of routes) {
    const handlers = [
      checkAccess(route, deps),
      bodyReader(route),
      ...(route.method === 'get' ? [] : [checkAccessAgain(route, deps)]),
      checkOwner(route),
      ...(route.method === 'post' ? [respondOnce(route, deps.idempotentResponses)] : []),
      (ctx: RouteContext) => serve(ctx, route, deps),
    ];
    for (const method of [route.method, ...(route.formerMethod ? [route.formerMethod] : [])]) {
      router.on(method, route.path, ...handlers);
    }
  }
}

/** @throws ServiceError access_denied */
export async function admit(
  ctx: Context,
  route: Route,
  { environments }: Pick<MountDeps, 'environments'>,
): Promise<void> {
  if (route.scope !== 'environment') return allow(ctx, route, undefined);
  const name = environmentOf(ctx);
  const environment = await environments.findOrFetch(name);
  allow(ctx, route, refOf(name, environment));
  rememberProven(ctx, { environment });
}

/** The principal's access to what the route concerns; `none` if the handler decides about each object.
 *  @throws ServiceError access_denied, input_invalid, and the error of a missing object if its environment is hidden */
export async function grantedAccess(ctx: Context, route: Route, given: GivenInput): Promise<AccessLevel> {
  const principal = principalOf(ctx);
  const { scope, owner, access } = route;
  if (scope === 'environment') return accessTo(principal, refOf(environmentOf(ctx), ctx.state.proven?.environment));
  if (scope === 'all-environments') return accessToAll(principal);
  if (scope === 'any-environment') return accessAnywhere(principal);
  if (owner === undefined) return accessTo(principal);
  if (owner === 'each') return 'none';
  // A misspelled field is an error before an object is missing.
  if (owner.missing) validInput(route, given);
  const found = await owner.find(given);
  if (!found) {
    if (owner.missing) throw owner.missing(given);
    return 'none';
  }
  const has = accessTo(principal, found);
  if (owner.missing && has === 'none') throw owner.missing(given);
  allowIn(principal, access, found);
  return has;
}

/** Runs before a stored response is repeated: the role may have changed since. */
function checkOwner(route: Route): Handler {
  return async (ctx, next) => {
    ctx.state.granted = await grantedAccess(ctx, route, givenTo(ctx, route));
    await next();
  };
}

function givenTo(ctx: RouteContext, route: Route): GivenInput {
  return { params: ctx.params, query: ownParameters(ctx.query), body: bodyOf(ctx, route) };
}

/** Runs before the request is read. */
function checkAccess(route: Route, deps: MountDeps): Middleware {
  return async (ctx, next) => {
    await admit(ctx, route, deps);
    ctx.state.isBodyAwaited = !ctx.req.complete;
    await next();
  };
}

/** Runs after the body has arrived. */
function checkAccessAgain(route: Route, { principals }: MountDeps): Middleware {
  return async (ctx, next) => {
    if (ctx.state.isBodyAwaited) {
      await principals.confirm(ctx);
      const selected = route.scope === 'environment' ? environmentOf(ctx) : undefined;
      allow(ctx, route, selected === undefined ? undefined : refOf(selected, ctx.state.proven?.environment));
    }
    await next();
  };
}

/** Reads the body, even on routes that have none, because a field in such a body is an error. */
function bodyReader({ method, body, eventLimit, bodyLimitBytes = BODY_LIMIT_BYTES }: Route): Middleware {
  if (method === 'get') return (_, next) => next();
  const read = eventLimit ? readEvent(eventLimit) : readJson(bodyLimitBytes);
  return (ctx, next) => {
    rejectEncoding(ctx.req);
    if (body && !(isEmpty(ctx.req) && isOptional(body))) requireJson(ctx.get('content-type'));
    return read(ctx, next);
  };
}

function isEmpty({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length'] ?? 0) === 0 && headers['transfer-encoding'] === undefined;
}

/** Loads koa-body with the first body: loading its form parser, which the API never needs, takes a tenth of the CPU time of a start. */
function readJson(limitBytes: number): Middleware {
  const reader = loadOnce(() => jsonReader(limitBytes));
  return async (ctx, next) => {
    await (await reader())(ctx, next);
  };
}

async function jsonReader(limitBytes: number): Promise<Middleware> {
  const { koaBody } = await import('koa-body');
  return koaBody({
    // By default koa-body skips DELETE, but here a field in the body of a DELETE is an error too.
    parsedMethods: ['POST', 'PUT', 'PATCH', 'DELETE'] as HttpMethodEnum[],
    jsonLimit: limitBytes,
    jsonStrict: false,
    urlencoded: false,
    text: false,
    onError: (error) => {
      throw bodyError(error, limitBytes) ?? new ServiceError('body_not_json', { detail: error.message, cause: error });
    },
  });
}

function readEvent(limitOf: (env: string) => EventLimit): Middleware {
  return async (ctx: Context, next: Next) => {
    const { bytes, remedy } = limitOf(environmentOf(ctx));
    const text = (await readBody(ctx.req, bytes, remedy)).toString('utf8');
    if (text !== '') ctx.request.body = parseJson(text, parseExact) as NonNullable<typeof ctx.request.body>;
    await next();
  };
}

/** A body that did not come as that of a request, with the limit and the numbers that it would have then.
 *  @param text JSON with all digits of its numbers
 *  @throws ServiceError body_too_large */
export function bodyIn(ctx: Context, { eventLimit }: Route, text: string): unknown {
  if (!eventLimit) return JSON.parse(text);
  const { bytes, remedy } = eventLimit(environmentOf(ctx));
  if (Buffer.byteLength(text) > bytes) throw bodyTooLarge(bytes, remedy);
  return parseExact(text);
}

/** @throws ServiceError content_type_unsupported */
function requireJson(contentType: string): void {
  const mediaType = mediaTypeOf(contentType);
  if (isJsonType(mediaType)) return;
  throw new ServiceError('content_type_unsupported', {
    detail: `got ${describeType(mediaType)}; send application/json`,
  });
}

/** Validates the input, runs the handler and writes the audit entry, for a request that is admitted.
 *  @param granted by `grantedAccess` */
export async function carryOut(
  ctx: Context,
  route: Route,
  given: GivenInput,
  granted: AccessLevel,
  { environments, auditLogger, targetNames }: Pick<MountDeps, 'environments' | 'auditLogger' | 'targetNames'>,
): Promise<Reply> {
  const dialect = dialectOfRequest(ctx);
  const principal = principalOf(ctx);
  const { kind, id, name } = principal;
  const isAudited = route.method !== 'get' && route.audited !== false;
  const targetName = isAudited ? await targetNames.of(route.path, given.params) : undefined;
  const reply = await route.handle({
    ...validInput(route, given),
    env: route.scope === 'environment' ? await selectedEnvironment(ctx, environments) : PRODUCTION,
    requestId: ctx.state.requestId,
    principal: { kind, id, name, access: granted },
    accessTo: (owner) => accessTo(principal, owner),
    dialect,
    origin: `${ctx.protocol}://${ctx.host}`,
  });
  if (isAudited && reply.audited !== false) {
    await auditLogger.log(ctx, auditEntryOf(ctx, route, given, { data: reply.data, targetName }));
  }
  return reply;
}

/** @throws ServiceError input_invalid */
function validInput({ params, query = NO_FIELDS, body = NO_FIELDS }: Route, given: GivenInput) {
  return {
    params: (params && validate(params, given.params, 'path parameter')) as never,
    query: validate(query, given.query, 'query parameter') as never,
    body: validate(body, given.body, 'field') as never,
  };
}

async function serve(ctx: RouteContext, route: Route, deps: MountDeps): Promise<void> {
  const { granted = 'none' } = ctx.state;
  const reply = await carryOut(ctx, route, givenTo(ctx, route), granted, deps);
  if (reply.onSent) onClose(ctx.res, reply.onSent);
  ctx.status = reply.status ?? route.status ?? (route.data || route.file ? 200 : 204);
  if (route.file) {
    // Content from a stranger is never shown as a page of this origin.
    ctx.set({ 'content-type': route.file, 'content-disposition': 'attachment' });
    ctx.body = reply.data;
  }
  if (route.data) {
    const cached = dialectOfRequest(ctx) === 'inngest' && { cached_until: null };
    const metadata = { fetched_at: new Date().toISOString(), ...cached, ...reply.metadata };
    ctx.type = 'json';
    ctx.body =
      reply.data instanceof ListPage ? reply.data.toJson(metadata) : { ...reply.beside, data: reply.data, metadata };
  }
}

function onClose(response: ServerResponse, done: () => void): void {
  // The client may have gone in the meantime.
  if (response.closed) done();
  else response.once('close', done);
}

/** @throws ServiceError environment_unknown, environment_changed, environment_deleting */
async function selectedEnvironment(ctx: Context, environments: Store['environments']): Promise<string> {
  const name = environmentOf(ctx);
  if (name === PRODUCTION) return name;
  const environment = await environments.findOrFetch(name);
  requireProven(ctx, environment);
  // The deletion would miss data written now.
  if (environment?.deletingAt !== undefined) throw new ServiceError('environment_deleting', { detail: describe(name) });
  if (!environment) {
    throw new ServiceError('environment_unknown', {
      detail: `got ${describe(name)}; GET /v1/environments lists the environments`,
    });
  }
  return name;
}

function bodyOf({ request: { body } }: Context, route: Route): unknown {
  return route.body ? body || undefined : body || {};
}
