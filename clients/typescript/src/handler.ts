/** Handles requests to the app's URL, independent of the web framework: GET introspects, PUT registers, POST runs a function.
 *  A framework's adapter only converts its request to an AppRequest and sends the AppAnswer. */
import { pathOf, urlOf } from './address.ts';
import { createAppCalls, type HostedApp, refusal } from './app-calls.ts';
import type { AppRequest } from './app-request.ts';
import { canonical } from './canonical.ts';
import { ServeError } from './errors.ts';
import { HEADERS, REQ_VERSION, SDK } from './headers.ts';
import { HINT_IF_UNSIGNED } from './hints.ts';
import { refuseUnknown } from './options.ts';
import { register } from './registration.ts';
import type { Outcome } from './run-call.ts';
import type { Settings } from './settings.ts';
import { findFlaw, findUrlFlaw, targetOf } from './signature.ts';

export interface ServeOptions extends HostedApp {
  /** Handle only this path. Default: every path that reaches the handler. */
  path?: string | undefined;
  /** URL under which the service reaches this app, such as `https://shop.example`. Default: SERVICE_SERVE_ORIGIN;
   *  in dev mode, the URL of the registration request. */
  serveOrigin?: string | undefined;
}

const SERVE_OPTIONS = Object.keys({
  client: true,
  functions: true,
  path: true,
  serveOrigin: true,
} satisfies Record<keyof ServeOptions, true>);

/** A response with a JSON body. */
export type AppAnswer = Outcome;

/** Resolves to undefined for other paths; never rejects. */
export type AppHandler = (request: AppRequest) => Promise<AppAnswer | undefined>;

/** @throws TypeError if two functions share an id, or one belongs to another app */
export function createHandler(options: ServeOptions, framework: string): AppHandler {
  refuseUnknown('serve', options, SERVE_OPTIONS);
  const { client } = options;
  const { functions, run } = createAppCalls(options, framework);

  async function answer(request: AppRequest): Promise<AppAnswer> {
    const settings = client.settings();
    switch (request.method) {
      case 'GET':
        return json(200, { function_count: functions.length, mode: settings.mode, framework });
      case 'PUT': {
        const whatIf = request.header(HEADERS.whatIf);
        const app = { id: client.id, url: urlOf(request, options, settings), framework, functions, whatIf };
        const { message = 'Registered', modified, functions: problems, unsupported } = await register(app, settings);
        return json(200, { message, modified, functions: problems, unsupported });
      }
      case 'POST': {
        const body = await authenticBody(request, settings);
        return run({ body, ...targetOf(request.url), waitUntil: request.waitUntil }, settings);
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

/** Verifies that the request is from the service, except in dev mode.
 *  @throws ServeError 401 */
async function authenticBody(request: AppRequest, settings: Settings): Promise<string> {
  const body = await request.body();
  const raw = typeof body === 'string' || Buffer.isBuffer(body) ? body : canonical(body);
  if (settings.mode === 'cloud') {
    const keys = [settings.signingKey, settings.signingKeyFallback].filter((key) => key !== undefined);
    const header = request.header(HEADERS.signature);
    const target = targetOf(request.url);
    const flaw =
      findFlaw(header, raw, keys, Date.now()) ??
      findUrlFlaw(request.header(HEADERS.signatureUrl), header, target, raw, keys);
    const hint = header ? '' : HINT_IF_UNSIGNED;
    if (flaw) throw new ServeError(401, `Not a call from the service: ${flaw}${hint}`);
  }
  return raw.toString();
}

function json(status: number, body: object, headers: Record<string, string> = {}): AppAnswer {
  return { status, headers, body: JSON.stringify(body) };
}
