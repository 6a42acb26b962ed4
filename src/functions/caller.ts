/** One signed HTTP call of a function. Life cycle: create with the process, `call` any number of times at once, `close`. */
import { Agent, errors, request } from 'undici';
import type { AppFunction } from '../model/app.ts';
import { type Answer, failedAttempt, interpret, type Outcome } from './answer.ts';
import { type CallContext, callRequestBody } from './call-request.ts';
import { headerName, SERVER_SDK } from './headers.ts';
import { sign } from './signing.ts';
import { traceparentOf } from './trace.ts';

const CONNECT_TIMEOUT_MS = 10_000;
/** A connection on which nothing has come for so long is probed; a peer that is gone is noticed some 10 s later. */
const PROBE_AFTER_MS = 15_000;
/** Largest answer that is read. */
export const ANSWER_MAX_BYTES = 4 * 1_024 * 1_024;

export interface CallerOptions {
  timeoutMs: number;
  /** Signs calls when there is one. */
  signingKey: string | undefined;
  dev: boolean;
}

export class FunctionCaller {
  readonly #options: CallerOptions;
  readonly #agent: Agent;

  constructor(options: CallerOptions) {
    this.#options = options;
    this.#agent = new Agent({
      connect: { timeout: CONNECT_TIMEOUT_MS, keepAlive: true, keepAliveInitialDelay: PROBE_AFTER_MS },
      headersTimeout: options.timeoutMs,
      bodyTimeout: options.timeoutMs,
    });
  }

  /** Calls the function and says what came of it. Never throws: no answer is an outcome too. */
  async call(fn: AppFunction, context: CallContext): Promise<Outcome> {
    const body = callRequestBody(context);
    try {
      const answer = await this.#post(fn, body, context);
      return interpret(answer, Date.now());
    } catch (error) {
      return failedAttempt('CallError', this.#explain(fn.url, error as Error));
    }
  }

  async #post(fn: AppFunction, body: string, { run }: CallContext): Promise<Answer> {
    const { signingKey, dev, timeoutMs } = this.#options;
    const { dialect, url } = fn;
    const response = await request(url, {
      dispatcher: this.#agent,
      method: 'POST',
      body,
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        'content-type': 'application/json',
        [headerName(dialect, 'sdk')]: SERVER_SDK,
        [headerName(dialect, 'server-kind')]: dev ? 'dev' : 'cloud',
        [headerName(dialect, 'req-version')]: '-1',
        ...(signingKey && { [headerName(dialect, 'signature')]: sign(body, signingKey, Date.now()) }),
        'x-run-id': run.id,
        'x-request-id': run.requestId,
        traceparent: traceparentOf(run.requestId, run.id),
      },
    });
    return { status: response.statusCode, headers: response.headers, body: await readAnswer(response.body) };
  }

  #explain(url: string, error: Error): string {
    const timedOut =
      error.name === 'TimeoutError' ||
      error instanceof errors.HeadersTimeoutError ||
      error instanceof errors.BodyTimeoutError;
    if (timedOut) return `${url} did not answer within ${this.#options.timeoutMs / 1_000} s`;
    return `${url} could not be called: ${error.message || (error as NodeJS.ErrnoException).code}`;
  }

  async close(): Promise<void> {
    await this.#agent.close();
  }
}

async function readAnswer(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > ANSWER_MAX_BYTES) throw new Error(`the answer is larger than ${ANSWER_MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
