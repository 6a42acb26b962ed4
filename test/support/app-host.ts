/** A fake app: a bare HTTP server that records calls and sends configured responses. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { type HttpResponse, request } from './http.ts';
import type { Service } from './service.ts';
import { until } from './until.ts';

/** A received call request. */
export interface Call {
  /** 0 for the function's first call, 1 for its second, … */
  number: number;
  fnId: string;
  stepId: string | null;
  headers: IncomingHttpHeaders;
  /** As received; signatures are over this. */
  raw: Buffer;
  /** event, events, steps, ctx, … (docs/protocol.md#calls) */
  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
  body: any;
}

export interface HostResponse {
  /** Default 200. */
  status?: number;
  /** Overrides the defaults; undefined omits a header. */
  headers?: Record<string, string | undefined>;
  /** Sent as JSON; bytes unchanged. Default: `null`. */
  body?: unknown;
  /** Raw response bytes including the head, instead of the fields above; then closes the connection. */
  wire?: Buffer;
}

/** `'hang up'` closes the connection without a response. A pending promise keeps the call in flight. */
export type Handler = (call: Call) => HostResponse | 'hang up' | Promise<HostResponse | 'hang up'>;

export interface FunctionSpec {
  /** Without the app's ID as prefix. */
  id: string;
  triggers: ({ event: string; expression?: string } | { cron: string; catchUp?: string })[];
  /** Retries after the first attempt; default: the service's default. */
  retries?: number;
  /** concurrency, throttle, … (docs/protocol.md) */
  [option: string]: unknown;
}

export type Dialect = 'service' | 'inngest';

export interface AppOptions {
  appName?: string;
  dialect?: Dialect;
  headers?: Record<string, string>;
}

const SDK = 'test:v1.0.0';
const PATH = '/api/service';

export async function startAppHost(): Promise<AppHost> {
  const host = new AppHost();
  await host.listen();
  return host;
}

export class AppHost {
  readonly #server = createServer((request, response) => this.#respond(request, response));
  readonly #handlers = new Map<string, Handler>();
  readonly #calls: Call[] = [];
  readonly #taken = new Map<string, number>();
  /** Handlers of all registered functions, by their ID in the service. */
  readonly #registered = new Map<string, { fnId: string; dialect: Dialect }>();
  #dialect: Dialect = 'service';
  #registerAgain: ((headers?: object) => Promise<HttpResponse>) | undefined;
  #port = 0;

  /** The app's URL. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}${PATH}`;
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Sets the handler of a function (ID without the app's prefix). Default: 200 and `null`. */
  on(fnId: string, handler: Handler): void {
    this.#handlers.set(fnId, handler);
  }

  /** Calls so far, oldest first: of one function, or of all. */
  calls(fnId?: string): Call[] {
    return this.#calls.filter((call) => fnId === undefined || call.fnId === fnId);
  }

  /** Waits for the first call of the function that no earlier `nextCall` has returned. */
  async nextCall(fnId: string): Promise<Call> {
    const number = this.#taken.get(fnId) ?? 0;
    this.#taken.set(fnId, number + 1);
    return until(() => this.calls(fnId)[number], { describe: `call ${number} of ${fnId} arrives` });
  }

  /** The app's registration; for tests that modify it. */
  registration(functions: FunctionSpec[], { appName = 'test-app', dialect = 'service' }: AppOptions = {}) {
    return {
      url: this.url,
      deployType: 'ping',
      appName,
      sdk: SDK,
      v: '0.1',
      framework: 'test',
      functions: functions.map(({ id, retries, ...rest }) => {
        const composite = `${appName}-${id}`;
        this.#registered.set(composite, { fnId: id, dialect });
        const runtime = { type: 'http', url: `${this.url}?fnId=${composite}&stepId=step` };
        const step = { id: 'step', name: 'step', runtime };
        return {
          id: composite,
          name: id,
          ...rest,
          steps: { step: retries === undefined ? step : { ...step, retries: { attempts: retries } } },
        };
      }),
    };
  }

  /** Waited for before the app responds to a PUT. */
  beforePut: () => Promise<void> = async () => {};

  /** Registers the app; a PUT to its URL repeats it. */
  async register(service: Service, functions: FunctionSpec[], options: AppOptions = {}): Promise<HttpResponse> {
    this.offer(service, functions, options);
    return (this.#registerAgain as () => Promise<HttpResponse>)();
  }

  /** Prepares a registration for a PUT of the service, without registering. */
  offer(service: Service, functions: FunctionSpec[], options: AppOptions = {}): void {
    this.#dialect = options.dialect ?? 'service';
    const headers = { [`x-${this.#dialect}-sdk`]: SDK, ...service.appHeaders, ...options.headers };
    const body = this.registration(functions, options);
    this.#registerAgain = (more) =>
      request('POST', `${service.url}/fn/register`, { body, headers: { ...headers, ...more } });
  }

  /** Also ends calls in flight. */
  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url);
    const composite = url.searchParams.get('fnId') ?? '';
    const { fnId, dialect } = this.#registered.get(composite) ?? { fnId: composite, dialect: this.#dialect };
    const callResponse = await this.#responseTo(request, fnId, url.searchParams.get('stepId'));
    if (callResponse === 'hang up') {
      request.socket.destroy();
      return;
    }
    if (callResponse.wire) {
      request.socket.end(callResponse.wire);
      return;
    }
    const { status = 200, headers = {}, body = null } = callResponse;
    const all = { 'content-type': 'application/json', [`x-${dialect}-sdk`]: SDK, ...headers };
    for (const [name, value] of Object.entries(all)) {
      if (value !== undefined) response.setHeader(name, value);
    }
    response.writeHead(status).end(Buffer.isBuffer(body) ? body : JSON.stringify(body));
  }

  async #responseTo(request: IncomingMessage, fnId: string, stepId: string | null): Promise<HostResponse | 'hang up'> {
    if (request.method === 'GET') return { body: { mode: 'dev', function_count: this.#registered.size } };
    if (request.method === 'PUT') return this.#registerOnRequest(request.headers);
    const raw = await buffer(request);
    const { headers } = request;
    const call = { number: this.calls(fnId).length, fnId, stepId, headers, raw, body: JSON.parse(raw.toString()) };
    this.#calls.push(call);
    return (await this.#handlers.get(fnId)?.(call)) ?? {};
  }

  async #registerOnRequest(headers: IncomingHttpHeaders): Promise<HostResponse> {
    await this.beforePut();
    const name = 'x-service-what-if';
    const response = await this.#registerAgain?.(headers[name] === undefined ? {} : { [name]: headers[name] });
    if (!response) return { status: 500, body: { message: 'nothing to register' } };
    return { status: response.status, body: { message: 'Registered', modified: response.body.modified } };
  }
}
