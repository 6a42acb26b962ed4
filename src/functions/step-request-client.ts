/** Makes the requests of steps, within the address rules for apps. Life cycle: one per process; `send` any number of
 *  times concurrently; `close`. */
import { setTimeout as pause } from 'node:timers/promises';
import { errors } from 'undici';
import type { EnvironmentKind } from '../model/environment.ts';
import { isSecretHeader } from '../model/requests/secrets.ts';
import { originOf, type StepRequest } from '../model/requests/step-request.ts';
import { MAX_STEP_BYTES } from '../model/runs/memo.ts';
import { Composed } from '../model/values/composed.ts';
import { decoded } from './content-encoding.ts';
import { SERVER_SDK } from './headers.ts';
import { AddressBlocked, HttpAgent, type HttpAgentOptions, ResponseTooLarge, readBytes } from './http-agent.ts';
import { type Failure, permanentFailure, retriableFailure } from './interpret-response.ts';

const MAX_REDIRECTS = 10;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const READS: ReadonlySet<string> = new Set(['GET', 'HEAD']);
/** Headers that describe a body, dropped by a redirect to GET. */
const BODY_HEADERS = ['content-type', 'content-language', 'content-location', 'content-encoding'];

export interface StepResponse {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
  /** After redirects. */
  url: string;
}

type Request = Omit<StepRequest, 'kind' | 'authKey'>;

export class StepRequestClient extends Composed<HttpAgentOptions> {
  readonly #agents = new HttpAgent(this.deps);
  #isAbandoned = false;

  /** Resolves for any response status.
   *  @param idempotencyKey the same for all attempts; sent where the method may change something, unless the request has a key */
  async send(request: StepRequest, kind: EnvironmentKind, idempotencyKey?: string): Promise<StepResponse | Failure> {
    const { timeoutMs } = this.deps;
    const timeout = new AbortController();
    const timer = new AbortController();
    pause(timeoutMs, undefined, { signal: timer.signal, ref: false }).then(
      () => timeout.abort(new DOMException('the request timed out', 'TimeoutError')),
      () => {},
    );
    try {
      return await this.#follow(request, kind, timeout.signal, idempotencyKey);
    } catch (error) {
      if (this.#isAbandoned) return new Promise<never>(() => {});
      return this.#failureOf(error as Error, originOf(request));
    } finally {
      timer.abort();
    }
  }

  async #follow(
    first: StepRequest,
    kind: EnvironmentKind,
    signal: AbortSignal,
    idempotencyKey: string | undefined,
  ): Promise<StepResponse | Failure> {
    const agent = this.#agents.for(kind);
    let request: Request = first;
    for (let redirects = 0; ; redirects++) {
      const { origin, pathname, search } = new URL(request.url);
      const response = await agent.request({
        origin,
        path: pathname + search,
        method: request.method as 'GET',
        headers: {
          'user-agent': SERVER_SDK,
          accept: '*/*',
          ...(idempotencyKey !== undefined && !READS.has(request.method) && { 'idempotency-key': idempotencyKey }),
          ...request.headers,
          'accept-encoding': 'identity',
        },
        body: request.body ?? null,
        signal,
      });
      const { statusCode: status, headers } = response;
      const [location] = [headers.location].flat();
      if (!REDIRECTS.has(status) || location === undefined) {
        const raw = await readBytes(response.body, MAX_STEP_BYTES);
        const body = await decoded(raw, String(headers['content-encoding'] ?? ''), MAX_STEP_BYTES);
        return { status, headers, body, url: request.url };
      }
      // Unread: the connection is closed.
      response.body.on('error', () => {}).destroy();
      const next = redirected(request, location, status);
      if ('failure' in next) return next.failure;
      if (redirects === MAX_REDIRECTS) {
        return permanentFailure(
          'TooManyRedirects',
          `${origin} redirected the request more than ${MAX_REDIRECTS} times`,
        );
      }
      if (first.kind === 'infer' && originOf(next) !== origin) {
        return permanentFailure(
          'RedirectBlocked',
          `${origin} redirected the request to ${originOf(next)}, which must not see the provider's key`,
        );
      }
      request = next;
    }
  }

  #failureOf(error: Error, origin: string): Failure {
    if (error instanceof AddressBlocked) {
      return permanentFailure(error.name, `the request was not made: ${error.message}`);
    }
    if (error instanceof ResponseTooLarge) {
      return permanentFailure(error.name, `the response of ${origin} is larger than ${MAX_STEP_BYTES} bytes`);
    }
    if (
      error.name === 'TimeoutError' ||
      error instanceof errors.HeadersTimeoutError ||
      error instanceof errors.BodyTimeoutError
    ) {
      return retriableFailure('RequestError', `${origin} did not respond within ${this.deps.timeoutMs / 1_000} s`);
    }
    const reason = error.message || (error as NodeJS.ErrnoException).code;
    return retriableFailure('RequestError', `the request to ${origin} failed: ${reason}`);
  }

  /** Aborts requests in flight without an outcome, as if this process had died. Called when the process ends. */
  abandon(): void {
    this.#isAbandoned = true;
    void this.#agents.destroy();
  }

  async close(): Promise<void> {
    if (!this.#isAbandoned) await this.#agents.close();
  }
}

/** The request that follows a redirect, by the rules of `fetch`. Secrets are not sent to another origin, and an encrypted request is never
 *  repeated in clear text. */
export function redirected(request: Request, location: string, status: number): Request | { failure: Failure } {
  const blocked = (where: string) => {
    return { failure: permanentFailure('RedirectBlocked', `${originOf(request)} redirected the request ${where}`) };
  };
  const url = URL.parse(location, request.url);
  if (!url) return blocked('to an invalid URL');
  if ((url.protocol !== 'http:' && url.protocol !== 'https:') || url.username !== '' || url.password !== '') {
    return blocked('to a URL that is not plain http');
  }
  if (url.protocol === 'http:' && new URL(request.url).protocol === 'https:') {
    return blocked(`from https to ${url.origin}, unencrypted`);
  }
  const { method, body } = request;
  const toGet = (status === 303 && method !== 'GET' && method !== 'HEAD') || (status <= 302 && method === 'POST');
  const dropped = (name: string) =>
    (toGet && BODY_HEADERS.includes(name)) || (url.origin !== originOf(request) && isSecretHeader(name));
  const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !dropped(name)));
  const kept = toGet || body === undefined ? {} : { body };
  return { url: url.href, method: toGet ? 'GET' : method, headers, ...kept };
}
