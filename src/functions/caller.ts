/** One signed HTTP call of a function. Life cycle: create with the process, `call` any number of times at once, `close`. */
import { type Agent, errors } from 'undici';
import type { AppFunction } from '../model/app.ts';
import { MAX_STEP_BYTES } from '../model/memo.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { type Answer, failedAttempt, failedForGood, interpret, type Outcome } from './answer.ts';
import { type CallContext, callRequestBody } from './call-request.ts';
import { post } from './exchange.ts';
import { headerName, SERVER_SDK } from './headers.ts';
import { AddressBlocked, AnswerTooLarge, type OutgoingOptions, outgoingAgent } from './outgoing.ts';
import { sign } from './signing.ts';
import { tracedCall } from './trace.ts';

/** Largest answer that is read: a step's output and what stands around it. */
const ANSWER_MAX_BYTES = MAX_STEP_BYTES + 65_536;
const TOO_LARGE = `the answer is larger than ${MAX_STEP_BYTES} bytes; keep large data elsewhere and return where it is`;

export interface CallerOptions extends OutgoingOptions {
  /** What signs calls to an environment's functions, if anything does. */
  signingKeyOf: (env: string) => Promise<string | undefined> | string | undefined;
  dev: boolean;
  tracing?: Tracing | undefined;
}

export class FunctionCaller {
  readonly #options: CallerOptions;
  readonly #agent: Agent;

  constructor(options: CallerOptions) {
    this.#options = options;
    this.#agent = outgoingAgent(options);
  }

  /** Calls the function and says what came of it. Never throws: no answer is an outcome too. */
  async call(fn: AppFunction, context: CallContext): Promise<Outcome> {
    const body = callRequestBody(context);
    try {
      const answer = await tracedCall(this.#options.tracing, fn.url, context.run, (traceHeaders) =>
        this.#post(fn, body, context, traceHeaders),
      );
      return interpret(answer, Date.now());
    } catch (error) {
      if (error instanceof AnswerTooLarge) return failedForGood('OutputTooLarge', TOO_LARGE);
      if (error instanceof AddressBlocked)
        return { ...failedAttempt(error.name, `${fn.url} is not called: ${error.message}`), unanswered: true };
      return { ...failedAttempt('CallError', this.#explain(fn.url, error as Error)), unanswered: true };
    }
  }

  async #post(
    fn: AppFunction,
    body: string,
    context: CallContext,
    traceHeaders: Record<string, string>,
  ): Promise<Answer> {
    const { run } = context;
    const { signingKeyOf, dev, timeoutMs } = this.#options;
    const signingKey = await signingKeyOf(run.env);
    const { dialect } = fn;
    const headers = {
      'content-type': 'application/json',
      [headerName(dialect, 'sdk')]: SERVER_SDK,
      [headerName(dialect, 'server-kind')]: dev ? 'dev' : 'cloud',
      [headerName(dialect, 'req-version')]: '-1',
      ...(signingKey && { [headerName(dialect, 'signature')]: sign(body, signingKey, Date.now()) }),
      'x-run-id': run.id,
      'x-request-id': run.requestId,
      ...traceHeaders,
    };
    return post(this.#agent, urlOf(fn, context), headers, body, { timeoutMs, maxBytes: ANSWER_MAX_BYTES });
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
