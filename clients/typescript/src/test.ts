/** Runs a function without a service: `await testFunction(fn, { event: { data: { total: 3 } } })`. */
import { randomUUID } from 'node:crypto';
import type { AnyData, IncomingEvent, OutgoingEvent } from './events.ts';
import type { TidegateFunction } from './function-types.ts';
import { asJson, type Jsonified } from './json.ts';
import type { Logger } from './logger.ts';
import { aroundSend } from './middleware/chain.ts';
import { type CallDeps, isFinal, runCall } from './run-call.ts';
import type { Op } from './steps/op.ts';
import type { Progress } from './steps/replay.ts';
import { storedEvents, testCodec } from './test-codec.ts';
import { RunInMemory, TEST_RUN } from './test-run.ts';
import { applyStub, type Ending } from './test-stubs.ts';
import type { TestEvent, TestedStep, TestOptions, TestRun } from './test-types.ts';
import { describeError } from './wire-error.ts';

export { advanceClock, type MovedClock } from './test-clock.ts';
export type { TestEvent, TestedStep, TestOptions, TestRun };

const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/** Calls the function like the service does; with a hashed step ID, runs that step. */
type CallFunction = (attempt: number, stepId?: string) => Promise<Progress>;

/** Runs its steps unless they are stubbed, and retries failures at once. Its middleware runs too. `step.sendEvent` sends nothing, but `client.send` in the
 *  function does.
 *  @throws Error if a step that invokes a function has no stub */
export async function testFunction<Output, Data = AnyData>(
  fn: TidegateFunction<Output, Data>,
  options: TestOptions<Data> = {},
): Promise<TestRun<Jsonified<Output>>> {
  const { retries = fn.retries, steps: stubs = {}, failures = {}, logger = SILENT } = options;
  const nowMs = new Date(options.now ?? Date.now()).getTime();
  const events = await storedEvents(fn as TidegateFunction, eventsOf(fn, options, nowMs));
  const codec = testCodec(fn as TidegateFunction, events[0] as IncomingEvent);
  const run = new RunInMemory(events, retries + 1, nowMs);
  const deps: CallDeps = {
    logger,
    // A second test must not find the results of the first.
    transactionsUnder: `${TEST_RUN}-${randomUUID()}`,
    sendEvents: (events, { runId }) => {
      const send = { functionId: fn.id, runId, events: [events].flat() as OutgoingEvent[] };
      return aroundSend(fn.middleware, send, async (out) => run.keep(await codec.readableEvents(out)));
    },
    sendSignal: async (signal, data) => {
      run.signals.push({ signal, data });
      return null;
    },
    publish: async (message) => void run.published.push(message),
  };
  const call: CallFunction = (attempt, stepId) => runCall(fn as TidegateFunction, run.call(attempt), stepId, deps);

  for (;;) {
    const progress = await callUntilItSucceeds(call, retries);
    const { steps, sent, signals, published } = run;
    const made = { steps, sent, signals, published };
    if (progress.kind === 'done') {
      const output = await codec.readableOutput(progress.output);
      return { result: asJson(output) as Jsonified<Output>, ...made };
    }
    if (progress.kind === 'failed') return { error: progress.error, ...made };
    const waiting: Op[] = [];
    for (const op of progress.ops) {
      const stubbed = await applyStub(op, stubs);
      if (stubbed) run.finish(op, stubbed, await codec.stored(op, stubbed));
      else if (op.op === 'StepPlanned') {
        const failing = Object.hasOwn(failures, op.displayName) ? failures[op.displayName] : [];
        const { ending, attempts } = await runStep(op, call, retries, failing);
        run.finish(op, await codec.readableResult(op, ending), ending, attempts);
      } else waiting.push(op);
    }
    // Sleeps and timeouts end after all other work.
    if (waiting.length === progress.ops.length) run.finishFirst(waiting);
  }
}

async function callUntilItSucceeds(call: CallFunction, retries: number): Promise<Progress> {
  for (let attempt = 0; ; attempt++) {
    const progress = await call(attempt);
    if (progress.kind !== 'failed' || isFinal(progress.error) || attempt >= retries) return progress;
  }
}

/** @param failures errors of its first attempts */
async function runStep(
  { id, displayName }: Op,
  call: CallFunction,
  retries: number,
  failures: readonly Error[] = [],
): Promise<{ ending: Ending; attempts: number }> {
  for (let attempt = 0; ; attempt++) {
    const attempts = attempt + 1;
    const failure = failures[attempt];
    const progress = failure ? undefined : await call(attempt, id);
    const outcome = progress?.kind === 'ops' ? progress.ops[0] : undefined;
    if (outcome?.op === 'StepRun') return { ending: { data: outcome.data }, attempts };
    const lost = { name: 'Error', message: `Step "${displayName}" was not found again` };
    const error = failure ? describeError(failure) : (outcome?.error ?? lost);
    const mayRetry = failure ? !isFinal(failure) : outcome?.op === 'StepError';
    if (!mayRetry || attempt >= retries) return { ending: { error }, attempts };
  }
}

function eventsOf<Data>(fn: TidegateFunction, { event, events }: TestOptions<Data>, nowMs: number): IncomingEvent[] {
  const named = fn.triggers.find((trigger) => 'event' in trigger);
  const absent = { name: named?.event ?? 'test/scheduled', data: {}, id: 'test-event', ts: nowMs };
  return (events ?? [event]).map((given) => ({ ...absent, ...given }) as IncomingEvent);
}
