/** Handles requests to the app's URL, independent of the web framework: GET introspects, PUT registers, POST runs a function.
 *  A framework's adapter only converts its request to an AppRequest and sends the AppAnswer. */
import { pathOf, urlOf } from './address.ts';
import type { AppRequest } from './app-request.ts';
import { type Call, readCall } from './call.ts';
import { canonical } from './canonical.ts';
import { ServeError } from './errors.ts';
import type { OneOrMany } from './events.ts';
import type { TidegateFunction } from './function-types.ts';
import { HEADERS, REQ_VERSION, SDK } from './headers.ts';
import { HINT_IF_UNSIGNED } from './hints.ts';
import { LogCollector } from './log-collector.ts';
import { refuseUnknown } from './options.ts';
import { type MessageToPublish, publish } from './publish.ts';
import { compositeId, register } from './registration.ts';
import { type Outcome, outcomeOf, runCall } from './run-call.ts';
import { seedOfStep } from './seed.ts';
import type { SendOptions, SendResult } from './send.ts';
import { sendLogs } from './send-logs.ts';
import type { Settings } from './settings.ts';
import { sendSignal } from './signals.ts';
import { findFlaw, findUrlFlaw, targetOf } from './signature.ts';

/** The part of a client that hosting functions needs. */
export interface AppClient {
  readonly id: string;
  settings(): Settings;
  send(events: OneOrMany<never>, options: SendOptions): Promise<SendResult>;
}

export interface ServeOptions {
  client: AppClient;
  functions: readonly TidegateFunction[];
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

const STEP_ITSELF = 'step';

/** @throws TypeError if two functions share an id, or one belongs to another app */
export function createHandler(options: ServeOptions, framework: string): AppHandler {
  refuseUnknown('serve', options, SERVE_OPTIONS);
  const { client } = options;
  const functions = options.functions.flatMap((fn) => (fn.onFailure ? [fn, fn.onFailure] : [fn]));
  const byId = indexById(client, functions);

  async function answer(request: AppRequest): Promise<AppAnswer> {
    const settings = client.settings();
    switch (request.method) {
      case 'GET':
        return json(200, { function_count: functions.length, mode: settings.mode, framework });
      case 'PUT': {
        const app = { id: client.id, url: urlOf(request, options, settings), framework, functions };
        const { message = 'Registered', modified, functions: problems, unsupported } = await register(app, settings);
        return json(200, { message, modified, functions: problems, unsupported });
      }
      case 'POST': {
        const call = await authenticCall(request, settings);
        const { fn, step } = requestedOf(request, byId);
        const logs = takesLogs(call, fn, settings) ? new LogCollector() : undefined;
        const deps = {
          logger: settings.logger,
          logs,
          sendEvents: sendFrom(client, fn),
          publish: (message: MessageToPublish, runId: string) => publish(message, runId, settings),
          sendSignal: (signal: string, data: unknown) => sendSignal(signal, data, settings),
        };
        const outcome = outcomeOf(await runCall(fn, call, step, deps), settings);
        if (logs) await sendLogs(call, logs, settings, request);
        return outcome;
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
async function authenticCall(request: AppRequest, settings: Settings): Promise<Call> {
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
  return readCall(raw.toString(), settings);
}

function indexById(client: AppClient, functions: readonly TidegateFunction[]): ReadonlyMap<string, TidegateFunction> {
  const foreign = functions.find(({ appId }) => appId !== client.id);
  if (foreign) throw new TypeError(`Function "${foreign.id}" is of the app "${foreign.appId}", not "${client.id}"`);
  const byId = new Map(functions.map((fn) => [compositeId(fn), fn]));
  if (byId.size < functions.length) throw new TypeError('Two functions of the app have the same id');
  return byId;
}

/** Unless the app says otherwise, what it logs stays with it where a middleware changes what the service stores: the values may be secret. */
function takesLogs(call: Call, { middleware }: TidegateFunction, { logs }: Settings): boolean {
  return call.takesLogs && (logs ?? !middleware.some(({ encode }) => encode));
}

/** Function and optional step in the URL of the call. */
function requestedOf(request: AppRequest, byId: ReadonlyMap<string, TidegateFunction>) {
  const { fnId: id, stepId: step } = targetOf(request.url);
  const fn = byId.get(id);
  if (!fn) throw new ServeError(500, `The app has no function "${id}"; register it again`);
  return { fn, step: step === STEP_ITSELF ? undefined : step };
}

/** The seed depends only on run and step: if a response is lost, the next attempt creates no duplicate events. */
function sendFrom(client: AppClient, { id, middleware }: TidegateFunction) {
  return (events: OneOrMany<unknown>, { runId, event }: Call, hashedStepId: string) => {
    const seed = seedOfStep(runId, hashedStepId, event.ts ?? 0);
    return client.send(events as OneOrMany<never>, { seed, within: { id, runId, middleware } });
  };
}

/** The response to a request that reached no function. The service may retry, because a deploy can fix the app. */
function refusal(error: Error): AppAnswer {
  const status = error instanceof ServeError ? error.status : 500;
  return json(status, { name: error.name, message: error.message }, { [HEADERS.noRetry]: 'false' });
}

function json(status: number, body: object, headers: Record<string, string> = {}): AppAnswer {
  return { status, headers, body: JSON.stringify(body) };
}
