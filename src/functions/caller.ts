/** One signed HTTP call of a function. Life cycle: create with the process, `call` any number of times at once, `close`. */
import { Agent, errors, request } from 'undici';
import type { AppFunction } from '../model/app.ts';
import { MAX_STEP_BYTES } from '../model/memo.ts';
import { type Answer, failedAttempt, failedForGood, interpret, type Outcome } from './answer.ts';
import { type CallContext, callRequestBody } from './call-request.ts';
import { headerName, SERVER_SDK } from './headers.ts';
import { sign } from './signing.ts';
import { traceparentOf } from './trace.ts';

const CONNECT_TIMEOUT_MS = 10_000;
/** A connection on which nothing has come for so long is probed; a peer that is gone is noticed some 10 s later. */
const PROBE_AFTER_MS = 15_000;
/** Largest answer that is read: a step's output and what stands around it. */
const ANSWER_MAX_BYTES = MAX_STEP_BYTES + 65_536;

class AnswerTooLarge extends Error {}

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
      if (error instanceof AnswerTooLarge) return failedForGood('OutputTooLarge', error.message);
      return failedAttempt('CallError', this.#explain(fn.url, error as Error));
    }
  }

  async #post(fn: AppFunction, body: string, context: CallContext): Promise<Answer> {
    const { run } = context;
    const { signingKey, dev, timeoutMs } = this.#options;
    const { dialect } = fn;
    const response = await request(urlOf(fn, context), {
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

/** The app runs the step that the URL names. */
function urlOf({ url }: AppFunction, { stepId }: CallContext): string {
  if (stepId === undefined) return url;
  const target = new URL(url);
  target.searchParams.set('stepId', stepId);
  return target.href;
}

async function readAnswer(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > ANSWER_MAX_BYTES)
      throw new AnswerTooLarge(
        `the answer is larger than ${MAX_STEP_BYTES} bytes; keep large data elsewhere and return where it is`,
      );
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
