/** What an app answers at its one URL, whatever the web framework: GET introspects, PUT registers, POST runs a function.
 *  A framework's adapter turns its request into an AppRequest and sends the AppAnswer; nothing else. */
import { type Outcome, readCall, runFunction } from './call.ts';
import { canonical } from './canonical.ts';
import { ServeError } from './errors.ts';
import type { FunctionContext, TidegateFunction } from './functions.ts';
import { HEADERS, REQ_VERSION, SDK } from './headers.ts';
import { compositeId, register } from './registration.ts';
import type { Settings } from './settings.ts';
import { findFlaw } from './signature.ts';

export interface ServeOptions {
  client: { readonly id: string; settings(): Settings };
  functions: readonly TidegateFunction[];
  /** Answer at this path only. Default: every path that reaches the handler. */
  path?: string | undefined;
  /** Address under which the service reaches this app, such as `https://shop.example`.
   *  Default: that of the request that asks the app to register. */
  serveOrigin?: string | undefined;
}

export interface AppRequest {
  method: string;
  /** Path and query, as the client of the app sent them. */
  url: string;
  /** Whether it came in over TLS. */
  secure: boolean;
  header(name: string): string | undefined;
  /** The raw body, which is better, or what a body parser made of it. */
  body(): Promise<Buffer | string | object>;
}

/** Its body is JSON. */
export type AppAnswer = Outcome;

/** Resolves to undefined when the request is for another path; never rejects. */
export type AppHandler = (request: AppRequest) => Promise<AppAnswer | undefined>;

/** @throws TypeError when two functions share an id */
export function createHandler(options: ServeOptions, framework: string): AppHandler {
  const { client, functions } = options;
  const byId = new Map(functions.map((fn) => [compositeId(client.id, fn), fn]));
  if (byId.size < functions.length) throw new TypeError('Two functions of the app have the same id');

  async function answer(request: AppRequest): Promise<AppAnswer> {
    const settings = client.settings();
    switch (request.method) {
      case 'GET':
        return json(200, { function_count: functions.length, mode: settings.mode, framework });
      case 'PUT': {
        const app = { id: client.id, url: urlOf(request, options), framework, functions };
        const { message = 'Registered', modified } = await register(app, settings);
        return json(200, { message, modified });
      }
      case 'POST': {
        const context = await authenticCall(request, settings);
        return runFunction(find(byId, request), context);
      }
      default:
        return json(405, { message: 'Only GET, PUT and POST are answered here' }, { allow: 'GET, PUT, POST' });
    }
  }

  return async (request) => {
    if (options.path !== undefined && pathOf(request) !== options.path) return undefined;
    const { status, headers, body } = await answer(request).catch(refusal);
    const always = {
      'content-type': 'application/json',
      [HEADERS.sdk]: SDK,
      [HEADERS.reqVersion]: REQ_VERSION,
      [HEADERS.framework]: framework,
    };
    return { status, headers: { ...always, ...headers }, body };
  };
}

/** The call of a request that did come from the service; in dev mode nobody asks.
 *  @throws ServeError 401 */
async function authenticCall(request: AppRequest, settings: Settings): Promise<FunctionContext> {
  const body = await request.body();
  const raw = typeof body === 'string' || Buffer.isBuffer(body) ? body : canonical(body);
  if (settings.mode === 'cloud') {
    const flaw = findFlaw(request.header(HEADERS.signature), raw, settings.signingKey, Date.now());
    if (flaw) throw new ServeError(401, `Not a call from the service: ${flaw}`);
  }
  return readCall(raw.toString());
}

function find(byId: ReadonlyMap<string, TidegateFunction>, request: AppRequest): TidegateFunction {
  const id = new URLSearchParams(request.url.split('?', 2)[1]).get('fnId') ?? '';
  const fn = byId.get(id);
  if (!fn) throw new ServeError(500, `The app has no function "${id}"; register it again`);
  return fn;
}

function urlOf(request: AppRequest, { path = pathOf(request), serveOrigin }: ServeOptions): string {
  return `${serveOrigin?.replace(/\/+$/, '') ?? originOf(request)}${path}`;
}

/** Deliberately without x-forwarded-host: whoever may send it would choose where the service sends every event. */
function originOf({ header, secure }: AppRequest): string {
  const forwarded = header('x-forwarded-proto')?.split(',')[0]?.trim();
  const protocol = forwarded === 'http' || forwarded === 'https' ? forwarded : secure ? 'https' : 'http';
  const host = header('host');
  if (!host) throw new ServeError(400, 'The request names no host: set serveOrigin');
  return `${protocol}://${host}`;
}

function pathOf({ url }: AppRequest): string {
  return url.split('?', 1)[0] ?? '';
}

/** The answer to a request that reached no function. Retrying may help: somebody may mend the app meanwhile. */
function refusal(error: Error): AppAnswer {
  const status = error instanceof ServeError ? error.status : 500;
  return json(status, { name: error.name, message: error.message }, { [HEADERS.noRetry]: 'false' });
}

function json(status: number, body: object, headers: Record<string, string> = {}): AppAnswer {
  return { status, headers, body: JSON.stringify(body) };
}
