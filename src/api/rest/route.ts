/** A route of the REST API, declared once: its schemas validate the input and describe it in the OpenAPI document. */
import { z } from 'zod';
import type { ErrorCode, ServiceError } from '../../errors.ts';
import type { Dialect } from '../../model/apps/app.ts';
import type { Access, AccessLevel, Principal } from '../../model/auth/access.ts';
import type { Owner } from '../../model/environment.ts';
import type { EventLimit } from '../../store/environments/event-limits.ts';
import type { Scope } from '../auth/guard.ts';
import { strict } from '../http/validation.ts';

type Schema = z.ZodType;

type Parsed<S extends Schema | undefined, Absent = undefined> = S extends Schema ? z.output<S> : Absent;

/** The parameters in a path, as text. */
type PathParams<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Record<Name, string> & PathParams<Rest>
  : Path extends `${string}:${infer Name}`
    ? Record<Name, string>
    : unknown;

export interface Input<Params, Query, Body> {
  params: Params;
  query: Query;
  body: Body;
  /** Name of the selected environment; production when none is selected, and for routes of another scope. */
  env: string;
  /** Becomes the request ID of the events and runs that the request creates. */
  requestId: string;
  principal: Caller;
  /** The principal's access to the objects of an owner, for routes whose owner is `each`. */
  accessTo: AccessTo;
  /** Dialect of the response: names and values of some fields depend on it (http/dialect.ts). */
  dialect: Dialect;
  /** Scheme and host by which the client reached the service. */
  origin: string;
}

/** Finds the principal's access to the objects of an owner. */
export type AccessTo = (owner: Owner) => AccessLevel;

/** The principal that sent the request. */
export interface Caller extends Pick<Principal, 'kind' | 'id' | 'name'> {
  /** Access to what the route concerns: the selected environment, the owner, or the installation. */
  access: AccessLevel;
}

/** Finds the environment that owns the object of a request. */
export interface OwnerOf {
  /** undefined if there is no such object. */
  find(given: GivenInput): Promise<Owner | undefined>;
  /** Returns the error for a missing object, or for an object of a hidden environment. Absent: the handler rejects objects without an
   *  owner. */
  missing?(given: GivenInput): ServiceError;
}

/** The input of a route before its validation. */
export interface GivenInput {
  params: Record<string, string>;
  query: Record<string, unknown>;
  body: unknown;
}

export interface Route {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** The route's earlier method, which still works. Not in the OpenAPI document. */
  formerMethod?: 'put';
  /** Path in the router's form: `/v1/events/:id`. */
  path: string;
  tag: string;
  /** The access that the principal needs. */
  access: Access;
  scope: Scope;
  /** Required by the scope `owner`. `each`: the response has objects of several owners, and the handler leaves out or rejects those that
   *  the principal may not see or change. */
  owner?: OwnerOf | 'each';
  /** Apps may use it too, with their signing key. */
  forApps?: true;
  /** A verb and its object in camel case. Never change it: generated clients have a method of this name. */
  operationId: string;
  summary: string;
  description?: string;
  /** Default: each path parameter accepts any text. */
  params?: z.ZodObject;
  query?: z.ZodObject;
  body?: Schema;
  /** Limit of a body that contains an event. Parsing such a body keeps all digits of its numbers. */
  eventLimit?: (env: string) => EventLimit;
  /** Maximum size of the body, if not the default. */
  bodyLimitBytes?: number;
  /** false: the route changes nothing although its method is not GET, so it has no audit entry. */
  audited?: false;
  /** Status of the response; default 200, or 204 without `data`. */
  status?: number;
  /** Status of a request that changes nothing, if different. */
  dryRunStatus?: number;
  /** Schema of the response's `data`; absent: the response has no body. */
  data?: Schema;
  /** Media type of a response that is a file: then the reply's `data` is a Buffer. */
  file?: string;
  /** Errors in addition to those that every route may return. */
  errors: ErrorCode[];
  // One list holds routes with different inputs.
  handle(input: Input<never, never, never>): Promise<Reply>;
}

/** Result of a handler; `metadata` is merged with `fetched_at`. */
export interface Reply {
  data?: unknown;
  /** Fields of the response in addition to `data` and `metadata`. */
  beside?: Record<string, unknown>;
  status?: number;
  /** false: the request changed nothing, so it has no audit entry. */
  audited?: false;
  metadata?: Record<string, unknown>;
  /** Called when the response is sent, or its client has gone. */
  onSent?: () => void;
}

/** Fields that the routes of a file share. */
type Shared = Pick<Route, 'tag' | 'scope'> & Partial<Pick<Route, 'access' | 'forApps' | 'audited' | 'owner'>>;

export type Routes = ReturnType<typeof routesOf>;

/** Declares routes by their methods, and derives the types of a handler from the schemas of its route. Default of `access`: read for GET, write
 *  for other methods. Default of `errors`: `not_found` for a path with a parameter. */
export function routesOf(shared: Shared) {
  const on =
    (method: Route['method']) =>
    <
      Params extends z.ZodObject | undefined = undefined,
      Query extends z.ZodObject | undefined = undefined,
      Body extends Schema | undefined = undefined,
      const Path extends string = string,
    >(
      path: Path,
      definition: Partial<Omit<Route, 'handle' | 'params' | 'query' | 'body' | 'summary' | 'operationId'>> &
        Pick<Route, 'operationId' | 'summary'> & {
          params?: Params;
          query?: Query;
          body?: Body;
          handle(input: Input<Parsed<Params, PathParams<Path>>, Parsed<Query>, Parsed<Body>>): Promise<Reply>;
        },
    ): Route => {
      const { params = paramsIn(path), query, body } = definition;
      const access = method === 'get' ? 'read' : 'write';
      const errors = path.includes(':') ? ['not_found'] : [];
      const own = { ...definition, params, query: strict(query), body: strict(body) };
      const route = { access, errors, ...shared, ...own, method, path } as unknown as Route;
      if ((route.scope === 'owner') === (route.owner !== undefined)) return route;
      throw new TypeError(`${method} ${path}: a route has an owner if its scope is "owner", and only then`);
    };
  return { get: on('get'), post: on('post'), put: on('put'), patch: on('patch'), delete: on('delete') };
}

function paramsIn(path: string): z.ZodObject | undefined {
  const names = Array.from(path.matchAll(/:(\w+)/g), ([, name]) => name as string);
  return names.length === 0 ? undefined : z.object(Object.fromEntries(names.map((name) => [name, z.string()])));
}
