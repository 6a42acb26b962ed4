/** One signed HTTP call of a function. Life cycle: create with the process, `call` any number of times at once, `close`. */
import { errors } from 'undici';
import type { AppFunction } from '../model/apps/app.ts';
import type { FinishedCall } from '../model/capacity/adaptive-limit.ts';
import type { EnvironmentKind } from '../model/environment.ts';
import { MAX_STEP_BYTES } from '../model/runs/memo.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { type CallContext, callRequestBody } from './call-request.ts';
import { headerName, SERVER_SDK, signatureHeaders } from './headers.ts';
import { AddressBlocked, HttpAgent, type HttpAgentOptions, ResponseTooLarge } from './http-agent.ts';
import { httpPost } from './http-post.ts';
import {
  type CallResponse,
  failedAttempt,
  failedForGood,
  interpretResponse,
  type Outcome,
} from './interpret-response.ts';
import { tracedCall } from './trace-context.ts';

/** Largest answer that is read: a step's output and what stands around it. */
export const RESPONSE_MAX_BYTES = MAX_STEP_BYTES + 65_536;
/** Node's own limit, which holds for undici. */
const MAX_HEADER_BYTES = 16_384;
const TOO_LARGE = `the answer is larger than ${MAX_STEP_BYTES} bytes; keep large data elsewhere and return where it is`;

export interface FunctionClientOptions extends HttpAgentOptions {
  /** What signs calls to an environment's functions, if anything does. */
  signingKeyOf: (env: string) => Promise<string | undefined> | string | undefined;
  kindOf: (env: string) => Promise<EnvironmentKind> | EnvironmentKind;
  dev: boolean;
  /** Told of every call when it has ended. */
  onEnd?: ((env: string, app: string, call: FinishedCall) => void) | undefined;
  tracing?: Tracing | undefined;
}

/** What a call takes from the environment that its run is in. */
interface EnvironmentOfCall {
  signingKey: string | undefined;
  kind: EnvironmentKind;
}

export class FunctionClient {
  readonly #options: FunctionClientOptions;
  readonly #outgoing: HttpAgent;
  #isAbandoned = false;

  constructor(options: FunctionClientOptions) {
    this.#options = options;
    this.#outgoing = new HttpAgent(options);
  }

  /** Calls the function and says what came of it: no answer is an outcome too. Throws only where there is nothing to call with: the memos
   *  cannot be written, or the signing key cannot be read. */
  async call(fn: AppFunction, context: CallContext): Promise<Outcome> {
    const body = callRequestBody(context);
    const { env } = context.run;
    const [signingKey, kind] = await Promise.all([this.#options.signingKeyOf(env), this.#options.kindOf(env)]);
    const startedAt = Date.now();
    const ended = (status: number | undefined) =>
      this.#options.onEnd?.(env, fn.app, { functionId: fn.id, status, startedAt, endedAt: Date.now() });
    try {
      const answer = await tracedCall(this.#options.tracing, fn.url, context.run, (traceHeaders) =>
        this.#post(fn, body, context, { signingKey, kind }, traceHeaders),
      );
      ended(answer.status);
      return interpretResponse(answer, Date.now());
    } catch (error) {
      if (this.#isAbandoned) return new Promise<never>(() => {});
      // One that is too large is an answer.
      ended(error instanceof ResponseTooLarge ? 200 : undefined);
      if (error instanceof ResponseTooLarge) return failedForGood('OutputTooLarge', TOO_LARGE);
      if (error instanceof errors.HeadersOverflowError) {
        return failedAttempt('HeadersTooLarge', `the headers of the answer are larger than ${MAX_HEADER_BYTES} bytes`);
      }
      if (error instanceof AddressBlocked)
        return { ...failedAttempt(error.name, `${fn.url} is not called: ${error.message}`), unanswered: true };
      return { ...failedAttempt('CallError', this.#explain(fn.url, error as Error)), unanswered: true };
    }
  }

  async #post(
    fn: AppFunction,
    body: string,
    context: CallContext,
    { signingKey, kind }: EnvironmentOfCall,
    traceHeaders: Record<string, string>,
  ): Promise<CallResponse> {
    const { run } = context;
    const { dev, timeoutMs } = this.#options;
    const { dialect } = fn;
    const url = urlOf(fn, context);
    const headers = {
      'content-type': 'application/json',
      [headerName(dialect, 'sdk')]: SERVER_SDK,
      [headerName(dialect, 'server-kind')]: dev ? 'dev' : 'cloud',
      [headerName(dialect, 'req-version')]: '-1',
      ...signatureHeaders(dialect, url, body, signingKey),
      'x-run-id': run.id,
      'x-request-id': run.requestId,
      ...traceHeaders,
    };
    const agent = this.#outgoing.for(kind);
    return httpPost(agent, url, headers, body, { timeoutMs, maxBytes: RESPONSE_MAX_BYTES });
  }

  #explain(url: string, error: Error): string {
    const timedOut =
      error.name === 'TimeoutError' ||
      error instanceof errors.HeadersTimeoutError ||
      error instanceof errors.BodyTimeoutError;
    if (timedOut) return `${url} did not answer within ${this.#options.timeoutMs / 1_000} s`;
    return `${url} could not be called: ${error.message || (error as NodeJS.ErrnoException).code}`;
  }

  /** Breaks off the calls in flight: nothing is said of what came of them, as if this process had died. For a process that ends. */
  abandon(): void {
    this.#isAbandoned = true;
    void this.#outgoing.destroy();
  }

  async close(): Promise<void> {
    if (!this.#isAbandoned) await this.#outgoing.close();
  }
}

/** The app runs the step that the URL names. */
function urlOf({ url }: AppFunction, { stepId }: CallContext): string {
  if (stepId === undefined) return url;
  const target = new URL(url);
  target.searchParams.set('stepId', stepId);
  return target.href;
}
