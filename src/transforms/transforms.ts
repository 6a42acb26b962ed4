/** Runs transforms: user code that turns a webhook's request into an event, in child processes that the parent can kill.
 *
 *  How a request travels:
 *  1. `transforms.ts` wraps it in a `QueuedRequest` with a total timeout.
 *  2. `scheduler/dispatcher.ts` asks the circuit breaker of its transform: reject it (quarantined), run it alone (suspect) or with others.
 *  3. `scheduler/pool.ts` queues it fairly among webhooks and sends batches to its child process (`scheduler/sandbox-process.ts`).
 *  4. `protocol.ts` is the only code that both sides share.
 *  5. `sandbox/child.ts` hands each batch to a thread (`sandbox/thread.ts`), which calls the webhook's isolate (`sandbox/isolate.ts`).
 *     Inside the isolate, `sandbox/bootstrap.ts` calls the user's function and reports the result as JSON text. `sandbox/web-api/` has the
 *     APIs that the function may use in addition to the language, such as `crypto`.
 *  6. The result returns to the dispatcher. `scheduler/result.ts` validates it and turns it into an outcome or a ServiceError. If the process
 *     exits first, the dispatcher decides which requests to retry, alone, and which transform gets a strike. */
import { createHash } from 'node:crypto';
import type { Logger } from '../log.ts';
import { NOOP_RECORDER, type TransformRecorder } from '../metrics/recorder.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { type Arguments, DEFAULT_LIMITS, type Limits } from './protocol.ts';
import type { CircuitBreakerRules } from './scheduler/circuit-breaker.ts';
import { createDispatcher } from './scheduler/dispatcher.ts';
import { QueuedRequest } from './scheduler/queued-request.ts';
import type { Transform, TransformOutcome, TransformRequest } from './transform.ts';

export type { Transform, TransformOutcome, TransformRequest };

export interface Transforms {
  /** Forks the first child process, which needs 150 ms to start, and 80 MB: call it when there may be requests. Without it the first request
   *  waits. */
  start(): void;
  /** Settles after `totalTimeoutMs` at the latest.
   *  @throws ServiceError transform_failed, transform_quarantined, overloaded */
  run(transform: Transform, request: TransformRequest): Promise<TransformOutcome>;
  /** Compiles the code and runs its top level; keeps nothing.
   *  @throws ServiceError transform_invalid, transform_quarantined, overloaded */
  check(code: string): Promise<void>;
  /** Current use of the pools. */
  usage(): { threads: number; queued: number; inFlight: number };
  /** Drops cached isolates of a webhook that was deleted or edited. */
  evict(id: string): void;
  /** Rejects open requests with `overloaded`; resolves when no child process is left. */
  close(): Promise<void>;
}

export interface TransformsOptions {
  /** Time limit of one request, from the moment a thread starts it. */
  timeoutMs: number;
  threads: number;
  log: Logger;
  recorder?: TransformRecorder;
  /** Milliseconds of a monotonic clock. */
  now?: () => number;
  /** Lead of the time of transforms over the machine's time: 0 except in dev mode. */
  aheadMs?: () => number;
  limits?: Partial<Limits>;
  circuitBreaker?: CircuitBreakerRules;
  /** Requests that each pool queues at most. */
  queueLimit?: number;
  /** Longest time from submission to result, whatever happens. */
  totalTimeoutMs?: number;
  /** The parent kills a child that exceeds `timeoutMs` by this much. */
  graceMs?: number;
  /** Longest time that a child may take to start. */
  startTimeoutMs?: number;
  /** The pool of suspects ends its child after this time without work. */
  idleTimeoutMs?: number;
}

export function createTransforms({
  timeoutMs,
  threads,
  log,
  recorder = NOOP_RECORDER,
  now = () => performance.now(),
  aheadMs = () => 0,
  limits,
  circuitBreaker = { strikes: 3, windowMs: 60_000 },
  queueLimit = 1_000,
  totalTimeoutMs = 10_000,
  graceMs = 500,
  startTimeoutMs = 10_000,
  idleTimeoutMs = 30_000,
}: TransformsOptions): Transforms {
  const dispatcher = createDispatcher({
    sandbox: {
      limits: { ...DEFAULT_LIMITS, ...limits, threads, timeoutMs },
      graceMs,
      startTimeoutMs,
      now,
      aheadMs,
      log,
      recorder,
    },
    circuitBreaker,
    queueLimit,
    idleTimeoutMs,
  });

  function submit(transform: Transform, args: Arguments | null) {
    const request = new QueuedRequest(transform, args, totalTimeoutMs);
    dispatcher.submit(request);
    return request.outcome;
  }

  return {
    run(transform, { body, headers, query, raw, reference }) {
      const others = JSON.stringify(reference ? [headers, query, reference] : [headers, query]);
      return submit(transform, body === undefined ? [raw, others] : [raw, others, JSON.stringify(body)]);
    },

    async check(code) {
      const version = createHash('sha256').update(code).digest('base64url');
      await submit({ id: 'check', version, code }, null);
    },

    start: () => dispatcher.start(),
    usage: () => ({ threads, ...dispatcher.usage() }),
    evict: (id) => dispatcher.evict(id),
    close: () => dispatcher.close(),
  };
}

/** Runs each transform in a span below the span of its webhook's request. */
export function traceTransforms(transforms: Transforms, tracing: Tracing | undefined): Transforms {
  if (!tracing) return transforms;
  return {
    ...transforms,
    run: (transform, request) => {
      const attributes = () => ({ 'tidegate.webhook.id': transform.id });
      return tracing.withSpan('transform', 'INTERNAL', attributes, () => transforms.run(transform, request));
    },
  };
}
