/** Executes one call of a function and creates its response: 200 completed, 206 steps, 400 failed permanently, 500 failed,
 *  retry. */
import type { Call } from './call.ts';
import type { CallCheckpoints } from './checkpoints.ts';
import { NonRetriableError, RetryAfterError, StepError } from './errors.ts';
import type { OneOrMany } from './events.ts';
import type { TidegateFunction } from './function-types.ts';
import { HEADERS } from './headers.ts';
import type { LogCollector } from './log-collector.ts';
import { handlerLogger, type Logger } from './logger.ts';
import { createCallMiddleware } from './middleware/call.ts';
import type { MessageToPublish } from './publish.ts';
import { hashStepId } from './steps/ids.ts';
import type { Op } from './steps/op.ts';
import { type Progress, replay } from './steps/replay.ts';
import { runningStep } from './steps/running-step.ts';
import { createStepTools } from './steps/tools.ts';
import { describeError, type ErrorOnTheWire, withSource } from './wire-error.ts';

export interface Outcome {
  status: number;
  headers: Record<string, string>;
  /** JSON. */
  body: string;
}

export interface CallDeps {
  logger: Logger;
  /** Gets what the function logs. */
  logs?: LogCollector | undefined;
  checkpoints?: CallCheckpoints | undefined;
  /** For `step.transaction`. Default: the ID of the run. */
  transactionsUnder?: string | undefined;
  /** For `step.publish`. */
  publish(message: MessageToPublish, runId: string): Promise<void>;
  /** For `step.sendSignal`. */
  sendSignal(signal: string, data: unknown): Promise<string | null>;
  /** For `step.sendEvent`. */
  sendEvents(events: OneOrMany<unknown>, run: Call, hashedStepId: string): Promise<unknown>;
}

/** Runs the function up to the end of this call. Never rejects.
 *  @param requestedStep hashed ID of the step to run; undefined: continue the function */
export async function runCall(
  fn: TidegateFunction,
  given: Call,
  requestedStep: string | undefined,
  { logger, logs, checkpoints, transactionsUnder, sendEvents, sendSignal, publish }: CallDeps,
): Promise<Progress> {
  const middleware = createCallMiddleware(fn, given);
  const decoded = await middleware.decode(given);
  if ('kind' in decoded) return decoded;
  const call = decoded;
  const { runId, attempt, maxAttempts = fn.retries + 1 } = call;
  const { decodeMemo } = middleware;
  const progress = await replay({ ...call, requestedStep, decodeMemo, checkpoints }, (find, replaying) => {
    const step = createStepTools({
      runId: transactionsUnder ?? runId,
      find: middleware.encodeResults(find),
      runCode: middleware.runCode,
      sendSignal,
      publish: (message) => publish(message, runId),
      sendEvents: (sent, hashedId) => sendEvents(sent, call, hashedId),
    });
    // A call of one planned step repeats all code outside of the step.
    const repeats = () => replaying() || (requestedStep !== undefined && runningStep() === undefined);
    const collect = logs && ((level: keyof Logger, args: readonly unknown[]) => logs.add(level, args, runningStep()));
    const context = {
      step,
      runId,
      attempt,
      maxAttempts,
      logger: handlerLogger({ logger, replaying: repeats, collect }),
    };
    return middleware.run(call, (events, added) => fn.handler({ ...added, ...events, ...context }));
  });
  return middleware.encode(progress);
}

export interface OutcomeOptions {
  /** Whether errors have the lines of code where they were thrown. */
  errorSource: boolean;
  /** Finished steps that checkpoints have not stored. */
  unstored?: readonly Op[] | undefined;
}

/** The name in operations of the function itself, which have no step. */
const FUNCTION_END = { id: hashStepId('complete'), name: 'complete', displayName: 'complete' };

/** An output that JSON cannot represent fails the attempt. */
export function outcomeOf(progress: Progress, { errorSource, unstored = [] }: OutcomeOptions): Outcome {
  const located = (error: ErrorOnTheWire) => (errorSource ? withSource(error) : error);
  if (progress.kind === 'failed') return failed(progress.error, located, unstored);
  if (progress.kind === 'ops') {
    const ops = progress.ops.map((op) => (op.error ? { ...op, error: located(op.error) } : op));
    return underWay({ ...progress, ops: [...unstored, ...ops] });
  }
  try {
    const output = JSON.stringify(progress.output) ?? 'null';
    if (unstored.length === 0) return { status: 200, headers: {}, body: output };
    return underWay({
      kind: 'ops',
      ops: [...unstored, { ...FUNCTION_END, op: 'RunComplete', data: JSON.parse(output) }],
    });
  } catch (error) {
    return failed(error, located, unstored);
  }
}

function underWay({ ops, retryAfterSeconds }: Extract<Progress, { kind: 'ops' }>): Outcome {
  const headers: Record<string, string> = {};
  const failure = ops.find(({ error }) => error);
  if (failure) headers[HEADERS.noRetry] = String(failure.op === 'StepFailed');
  if (retryAfterSeconds !== undefined) headers[HEADERS.retryAfter] = String(retryAfterSeconds);
  return { status: 206, headers, body: JSON.stringify(ops) };
}

/** A failed step has used its retries: if uncaught, its error is permanent. */
export function isFinal(thrown: unknown): boolean {
  return thrown instanceof NonRetriableError || thrown instanceof StepError;
}

function failed(thrown: unknown, located: (error: ErrorOnTheWire) => ErrorOnTheWire, unstored: readonly Op[]): Outcome {
  const headers: Record<string, string> = { [HEADERS.noRetry]: String(isFinal(thrown)) };
  if (thrown instanceof RetryAfterError) headers[HEADERS.retryAfter] = String(thrown.retryAfterSeconds);
  const error = located(describeError(thrown));
  if (unstored.length > 0) {
    return { status: 206, headers, body: JSON.stringify([...unstored, { ...FUNCTION_END, op: 'RunError', error }]) };
  }
  return { status: isFinal(thrown) ? 400 : 500, headers, body: JSON.stringify(error) };
}
