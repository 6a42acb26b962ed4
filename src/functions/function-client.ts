/** Calls functions of apps by signed HTTP requests. Life cycle: one per process; `call` any number of times concurrently; `close`. */
import { errors } from 'undici';
import type { AppFunction } from '../model/apps/app.ts';
import { isConnected } from '../model/apps/connection.ts';
import type { Destination } from '../model/apps/destination.ts';
import type { FinishedCall } from '../model/capacity/adaptive-limit.ts';
import type { EnvironmentKind } from '../model/environment.ts';
import { resultOfEndpoint } from '../model/runs/endpoint-response.ts';
import { Composed } from '../model/values/composed.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { identifyingHeaders } from './call-headers.ts';
import { type CallContext, callRequestBody } from './call-request.ts';
import { ConnectionLost, type ConnectTransport, NoConnection } from './connect/transport.ts';
import {
  type DestinationRequest,
  type DestinationSecrets,
  destinationRequest,
  interpretDestinationResponse,
  type OriginalRequest,
  RESPONSE_MAX_BYTES,
  withoutOriginal,
} from './destination-request.ts';
import { EndpointRefused, endpointRequest } from './endpoint-request.ts';
import { headerName, SERVER_SDK, signatureHeaders } from './headers.ts';
import { AddressBlocked, HttpAgent, type HttpAgentOptions, ResponseTooLarge } from './http-agent.ts';
import { type CallResponse, httpPost, ResponseCutOff, ResponseMemory } from './http-post.ts';
import {
  type Failure,
  interpretResponse,
  type Outcome,
  permanentFailure,
  retriableFailure,
} from './interpret-response.ts';
import { RedirectRefused, redirectTarget } from './redirects.ts';
import { tracedCall } from './trace-context.ts';

/** Users of the official SDKs know this wording. */
const CUT_OFF = 'Your server reset the connection while we were reading the reply';
/** Maximum number of largest responses that a worker reads at the same time. */
const LARGEST_AT_ONCE = 16;
/** Node's limit, which undici also uses. */
const MAX_HEADER_BYTES = 16_384;

export interface FunctionClientOptions extends HttpAgentOptions {
  /** Signing key of an environment; undefined if calls are not signed. */
  signingKeyOf: (env: string) => Promise<string | undefined> | string | undefined;
  /** Whether the service stores functions' logs. Official SDKs send none. */
  takesLogs: boolean;
  kindOf: (env: string) => Promise<EnvironmentKind> | EnvironmentKind;
  dev: boolean;
  /** Whether the service may call endpoints at the URL. */
  allowsEndpoint: (env: string, url: string) => Promise<boolean>;
  /** For apps that connect. */
  connect: ConnectTransport;
  destinations: DestinationData;
  /** Largest body of a response. */
  responseMaxBytes: number;
  onEnd?: ((env: string, app: string, call: FinishedCall) => void) | undefined;
  tracing?: Tracing | undefined;
}

/** Data of the store that calls of destinations need. */
export interface DestinationData {
  /** @throws SealError if SECRET_KEY has changed */
  secretsOf(env: string, fn: AppFunction): DestinationSecrets;
  /** Callers call `release` of the request when they are done with it. @throws ServiceError archive_unavailable */
  originalOf(webhookId: string, requestId: string): Promise<OriginalRequest | undefined>;
}

export class FunctionClient extends Composed<FunctionClientOptions> {
  readonly #agents = new HttpAgent(this.deps);
  readonly #memory = new ResponseMemory(LARGEST_AT_ONCE * this.deps.responseMaxBytes);
  #isAbandoned = false;

  /** Calls the function and returns the outcome, even if no response arrives. Throws only before the call: if the memos cannot be
   *  serialized, a what-if call is too large, a key, a secret or the original request cannot be read, or no connection of the app accepts
   *  the call. */
  async call(fn: AppFunction, context: CallContext): Promise<Outcome> {
    if (!fn.destination) return this.#call(fn, context);
    const original = await this.#originalOf(fn.destination, fn, context);
    if (original && 'kind' in original) return original;
    try {
      const secrets = this.deps.destinations.secretsOf(context.run.env, fn);
      return await this.#call(fn, context, destinationRequest(fn.destination, context, secrets, original));
    } finally {
      original?.release?.();
    }
  }

  async #call(fn: AppFunction, context: CallContext, destined?: DestinationRequest): Promise<Outcome> {
    const { takesLogs } = this.deps;
    const client = fn.dialect === 'service' ? { takesLogs } : undefined;
    const { env } = context.run;
    const body = fn.endpoint || destined ? '' : callRequestBody(context, client);
    const [signingKey, kind] = await Promise.all([this.deps.signingKeyOf(env), this.deps.kindOf(env)]);
    const startedAt = Date.now();
    const recordEnd = (status: number | undefined) =>
      this.deps.onEnd?.(env, fn.app, { functionId: fn.id, status, startedAt, endedAt: Date.now() });
    try {
      const response = await tracedCall(this.deps.tracing, fn.url, context.run, (traceHeaders) =>
        isConnected(fn.url)
          ? this.deps.connect.call(fn, context, body, traceHeaders)
          : destined
            ? this.#postTo(fn, destined, kind)
            : this.#post(fn, body, context, { signingKey, kind }, traceHeaders),
      );
      recordEnd(response.status);
      if (destined) return interpretDestinationResponse(fn.url, response, Date.now());
      const outcome = interpretResponse(response, Date.now());
      return fn.endpoint && outcome.kind === 'completed'
        ? { ...outcome, ...resultOfEndpoint(outcome.output) }
        : outcome;
    } catch (error) {
      if (this.#isAbandoned) return new Promise<never>(() => {});
      if (error instanceof NoConnection) throw error;
      // A response that is too large is still a response.
      recordEnd(error instanceof ResponseTooLarge ? 200 : undefined);
      if (error instanceof ResponseTooLarge) return retriableFailure('OutputTooLarge', error.message);
      if (error instanceof errors.HeadersOverflowError) {
        return retriableFailure('HeadersTooLarge', `the response headers are larger than ${MAX_HEADER_BYTES} bytes`);
      }
      if (error instanceof ConnectionLost) return { ...retriableFailure(error.name, error.message), noResponse: true };
      if (error instanceof EndpointRefused) return permanentFailure(error.name, error.message);
      if (error instanceof RedirectRefused) return retriableFailure(error.name, `${fn.url}: ${error.message}`);
      if (error instanceof AddressBlocked)
        return { ...retriableFailure(error.name, `${fn.url} was not called: ${error.message}`), noResponse: true };
      const failure = retriableFailure('CallError', this.#callErrorMessage(fn, error as Error));
      if (error instanceof ResponseCutOff) failure.error.stack = `${CUT_OFF}: ${error.message}`;
      return { ...failure, noResponse: true };
    }
  }

  async #post(
    fn: AppFunction,
    body: string,
    context: CallContext,
    { signingKey, kind }: { signingKey: string | undefined; kind: EnvironmentKind },
    traceHeaders: Record<string, string>,
  ): Promise<CallResponse> {
    const { dev, timeoutMs, responseMaxBytes: maxBytes } = this.deps;
    const { dialect, endpoint } = fn;
    const agent = this.#agents.for(kind);
    const memory = this.#memory;
    if (endpoint) {
      const request = endpointRequest({ ...fn, endpoint }, context, signingKey);
      if (!(await this.deps.allowsEndpoint(context.run.env, request.url))) {
        throw new EndpointRefused(`nobody has allowed endpoints at ${new URL(request.url).origin}`);
      }
      const common = {
        [headerName(dialect, 'server-kind')]: dev ? 'dev' : 'cloud',
        'x-request-id': context.run.requestId,
      };
      const headers = { ...common, ...request.headers, ...traceHeaders };
      return httpPost(agent, request.url, headers, request.body, { timeoutMs, maxBytes, memory }, request.method);
    }
    const url = urlOf(fn, context);
    const headers = {
      'content-type': 'application/json',
      [headerName(dialect, 'sdk')]: SERVER_SDK,
      [headerName(dialect, 'server-kind')]: dev ? 'dev' : 'cloud',
      [headerName(dialect, 'req-version')]: '-1',
      ...signatureHeaders(dialect, url, body, signingKey),
      ...identifyingHeaders(dialect, context),
      ...traceHeaders,
    };
    const deadline = Date.now() + timeoutMs;
    for (let [target, followed] = [url, 0]; ; followed++) {
      const limits = { timeoutMs: deadline - Date.now(), maxBytes, memory };
      const response = await httpPost(agent, target, headers, body, limits);
      const next = redirectTarget(target, response, followed);
      if (next === undefined) return response;
      target = next;
    }
  }

  /** @returns the original request, if the destination forwards it; a failure if it is gone */
  async #originalOf(
    destination: Destination,
    fn: AppFunction,
    { event }: CallContext,
  ): Promise<OriginalRequest | Failure | undefined> {
    const [{ webhook } = {}] = fn.triggers;
    if (destination.body !== 'request' || webhook === undefined) return undefined;
    const { destinations } = this.deps;
    return (await destinations.originalOf(webhook, event.request_id)) ?? withoutOriginal(event, Date.now());
  }

  /** Redirects are not followed: the signed request is for the URL that a person gave. */
  #postTo(fn: AppFunction, { headers, body }: DestinationRequest, kind: EnvironmentKind): Promise<CallResponse> {
    const limits = { timeoutMs: this.#timeoutOf(fn), maxBytes: RESPONSE_MAX_BYTES, cuts: true } as const;
    return httpPost(this.#agents.for(kind), fn.url, headers, body, limits);
  }

  #timeoutOf({ destination }: AppFunction): number {
    const { timeoutMs } = this.deps;
    return Math.min(destination?.timeoutMs ?? timeoutMs, timeoutMs);
  }

  #callErrorMessage(fn: AppFunction, error: Error): string {
    const { url } = fn;
    const timeoutMs = this.#timeoutOf(fn);
    const timedOut =
      error.name === 'TimeoutError' ||
      error instanceof errors.HeadersTimeoutError ||
      error instanceof errors.BodyTimeoutError;
    if (timedOut) return `${url} did not respond within ${timeoutMs / 1_000} s`;
    return `${url} could not be called: ${error.message || (error as NodeJS.ErrnoException).code}`;
  }

  /** Aborts calls in flight without an outcome, as if this process had died. For a process that ends. */
  abandon(): void {
    this.#isAbandoned = true;
    this.deps.connect.abandon();
    void this.#agents.destroy();
  }

  async close(): Promise<void> {
    if (!this.#isAbandoned) await this.#agents.close();
  }
}

/** Adds the step that the app must run to the URL. */
function urlOf({ url }: AppFunction, { stepId }: CallContext): string {
  if (stepId === undefined) return url;
  const target = new URL(url);
  target.searchParams.set('stepId', stepId);
  return target.href;
}
