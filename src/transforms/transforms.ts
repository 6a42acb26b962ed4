/** The front of everything about transforms: user code that turns a webhook's request into an event, run in child
 *  processes that can be killed. */
import { createHash } from 'node:crypto';
import type { Logger } from '../log.ts';
import { NOOP_RECORDER, type TransformRecorder } from '../metrics/recorder.ts';
import { DEFAULT_LIMITS, type Limits } from './protocol.ts';
import type { CircuitBreakerRules } from './scheduler/circuit-breaker.ts';
import { createDispatcher } from './scheduler/dispatcher.ts';
import { QueuedRequest } from './scheduler/queued-request.ts';
import type { Transform, TransformOutcome, TransformRequest } from './transform.ts';

export type { Transform, TransformOutcome, TransformRequest };

export interface Transforms {
  /** Always answers: at the latest when its patience is over.
   *  @throws ServiceError transform_failed, transform_quarantined, overloaded */
  run(transform: Transform, request: TransformRequest): Promise<TransformOutcome>;
  /** Compiles the code and runs its top level; nothing is kept.
   *  @throws ServiceError transform_invalid, transform_quarantined, overloaded */
  check(code: string): Promise<void>;
  /** How much of the pool is in use now. */
  use(): { threads: number; waiting: number; inFlight: number };
  /** The webhook is no more, or has other code: lets go of what is kept of it. */
  evict(id: string): void;
  /** Answers what is still open with `overloaded`; resolves when no process is left. */
  close(): Promise<void>;
}

export interface TransformsOptions {
  /** For one request, from when a thread takes it up. */
  timeoutMs: number;
  threads: number;
  log: Logger;
  meter?: TransformRecorder;
  /** Milliseconds of a clock that never goes back. */
  now?: () => number;
  limits?: Partial<Limits>;
  standing?: CircuitBreakerRules;
  /** Requests that may wait, in each lane. */
  places?: number;
  /** Longest that a request waits for its answer, whatever happens. */
  patienceMs?: number;
  /** What a thread cannot end within `timeoutMs`, the parent kills so much later, with the whole child. */
  graceMs?: number;
  /** Longest that a child may take to start. */
  bootMs?: number;
  /** After so long without a suspect, their child is ended. */
  idleMs?: number;
}

/** Forks the first child at once: it needs 150 ms to start, and 80 MB. */
export function createTransforms({
  timeoutMs,
  threads,
  log,
  meter = NOOP_RECORDER,
  now = () => performance.now(),
  limits,
  standing = { strikes: 3, windowMs: 60_000 },
  places = 1_000,
  patienceMs = 10_000,
  graceMs = 500,
  bootMs = 10_000,
  idleMs = 30_000,
}: TransformsOptions): Transforms {
  const dispatch = createDispatcher({
    sandbox: { limits: { ...DEFAULT_LIMITS, ...limits, threads, timeoutMs }, graceMs, bootMs, now, log, meter },
    standing,
    places,
    idleMs,
  });

  function perform(transform: Transform, args: string | null) {
    const ticket = new QueuedRequest(transform, args, patienceMs);
    dispatch.admit(ticket);
    return ticket.answer;
  }

  return {
    run: (transform, { body = {}, bodyText = JSON.stringify(body), headers, query, raw }) =>
      perform(transform, `[${bodyText},${JSON.stringify([headers, query, raw]).slice(1)}`),

    async check(code) {
      const version = createHash('sha256').update(code).digest('base64url');
      await perform({ id: 'check', version, code }, null);
    },

    use: () => ({ threads, ...dispatch.use() }),
    evict: (id) => dispatch.evict(id),
    close: () => dispatch.close(),
  };
}
