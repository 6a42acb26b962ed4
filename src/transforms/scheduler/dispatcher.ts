import type { StopCause, TransformResult } from '../protocol.ts';
import { type CircuitBreakerRules, CircuitBreakers } from './circuit-breaker.ts';
import { BATCH_MAX, DurationEstimate } from './duration-estimate.ts';
import type { FairQueue } from './fair-queue.ts';
import type { Batch, Load } from './in-flight.ts';
import { Pool } from './pool.ts';
import { killedFromOutside, type QueuedRequest } from './queued-request.ts';
import { outcomeOf, quarantined, stopped } from './result.ts';
import type { ProcessExit, SandboxOptions } from './sandbox-process.ts';

/** A request gets a strike when its child crashes this often while it runs alone: a single crash can be a coincidence. */
const CRASHES = 2;
/** Requests sent ahead per thread, so that it does not wait for the parent between two batches. */
const SENT_AHEAD = 32;
/** Longest time that requests of a fast transform wait to become one batch, if the batch before them takes longer than expected. */
const JOIN_MS = 20;

export interface DispatcherOptions {
  sandbox: SandboxOptions;
  circuitBreaker: CircuitBreakerRules;
  queueLimit: number;
  idleTimeoutMs: number;
}

export interface Dispatcher {
  /** Makes a child process ready for the first request. */
  start(): void;
  submit(request: QueuedRequest): void;
  /** Queued requests, and requests inside a child process. */
  usage(): { queued: number; inFlight: number };
  /** Drops what child processes cache of this webhook. */
  evict(id: string): void;
  close(): Promise<void>;
}

/** Decides which request runs where, and which transform is to blame when a child exits. The main pool runs all transforms in `good` state
 *  in parallel. Requests that were inside a child that exited, and transforms that were stopped, move to the pool of suspects. That pool
 *  runs one request at a time, which shows who is to blame and harms no other request. */
export function createDispatcher({
  sandbox,
  circuitBreaker,
  queueLimit,
  idleTimeoutMs,
}: DispatcherOptions): Dispatcher {
  const { log, now, limits, recorder } = sandbox;
  const circuits = new CircuitBreakers(circuitBreaker);
  const durations = new DurationEstimate();
  const main = new Pool({ sandbox, queueLimit, nextBatch: nextInMain, onResult, onExit: onExitInMain });
  const suspects = new Pool({
    sandbox: { ...sandbox, limits: { ...limits, threads: 1 } },
    queueLimit,
    idleTimeoutMs,
    nextBatch: nextSuspect,
    onResult,
    onExit: onExitOfSuspect,
  });

  return {
    start: () => main.start(),
    submit,
    usage: () => ({ queued: main.queued + suspects.queued, inFlight: main.inFlight + suspects.inFlight }),
    evict(id) {
      main.evict(id);
      suspects.evict(id);
    },
    close: async () => {
      await Promise.all([main.close(), suspects.close()]);
    },
  };

  function submit(request: QueuedRequest) {
    const { kind, retryAfterSeconds } = circuits.stateOf(request.key, now());
    if (kind === 'quarantined') request.settle(quarantined(retryAfterSeconds));
    else if (kind === 'suspect' || request.retriesAlone) suspects.enqueue(request);
    else main.enqueue(request);
  }

  /** Slow transforms always leave one thread to the others, and do not queue inside the child, where no request can overtake them. */
  function nextInMain(queue: FairQueue, load: Load): Batch | undefined {
    if (load.requests >= limits.threads * SENT_AHEAD) return undefined;
    // All threads have work: requests that wait until one is done go together, because a message costs many times what a fast transform
    // costs.
    if (load.batches >= limits.threads && queue.size < BATCH_MAX) return undefined;
    const mayRunSlow = load.slowBatches < Math.max(1, limits.threads - 1);
    const request = queue.next((key) => (mayRunSlow || !durations.isSlow(key)) && !joinsOthers(key, queue, load));
    if (request === undefined) return undefined;
    const { key } = request;
    return {
      requests: [request, ...queue.nextOf(key, durations.batchSize(key) - 1)],
      slow: durations.isSlow(key),
    };
  }

  /** A fast transform gets one thread: requests that come during its batch form the next batch. */
  function joinsOthers(key: string, queue: FairQueue, { sentAt }: Load): boolean {
    const lastAt = sentAt.get(key);
    if (lastAt === undefined || now() - lastAt >= JOIN_MS) return false;
    return queue.sizeOf(key) < durations.batchSize(key);
  }

  /** Picks one request at a time: first of transforms that have recovered, last of transforms with recent strikes. */
  function nextSuspect(queue: FairQueue, load: Load): Batch | undefined {
    if (load.requests > 0) return undefined;
    const cleared = queue.next((key) => circuits.stateOf(key, now()).kind === 'good');
    const request = cleared ?? queue.next((key) => !circuits.hasRecentStrike(key, now())) ?? queue.next();
    return request && { requests: [request], slow: true };
  }

  function onResult(request: QueuedRequest, result: TransformResult) {
    if ('stopped' in result) return strike(request, result.stopped);
    durations.record(request.key, result.durationMs);
    recorder.transformCompleted(result.durationMs);
    request.settle(outcomeOf(request, result.text, result.durationMs));
    if (circuits.success(request.key, now())) requeue(request.key);
  }

  /** Only a request that was alone and overdue is certainly to blame. A child can also exit for other reasons, so all other
   *  requests get one retry, alone. */
  function onExitInMain({ unfinished: { started, pending }, cause }: ProcessExit) {
    const unfinished = [...pending, ...started];
    const [first, ...others] = unfinished;
    if (first && others.length === 0 && cause === 'time') return strike(first, cause);
    if (cause === 'killed') return retryAfterKill(started, pending);
    if (cause !== 'recalled') for (const request of unfinished) markSuspect(request);
    for (const request of unfinished) submit(request);
    for (const key of new Set(unfinished.map(({ key }) => key))) requeue(key);
  }

  /** After a kill from outside, started requests retry alone, since the kernel's out-of-memory killer is outside too; the state of
   *  their transforms does not change. */
  function retryAfterKill(started: readonly QueuedRequest[], pending: readonly QueuedRequest[]) {
    for (const request of started) request.retriesAlone = true;
    for (const request of [...pending, ...started]) submit(request);
  }

  function onExitOfSuspect({ unfinished: { started, pending }, cause }: ProcessExit) {
    for (const request of [...started, ...pending]) {
      if (cause === 'killed') request.settle(killedFromOutside());
      else if (cause === 'recalled') submit(request);
      else if (cause !== 'crash') strike(request, cause);
      else {
        request.crashes += 1;
        if (request.crashes < CRASHES) suspects.enqueue(request);
        else strike(request, 'memory');
      }
    }
  }

  function markSuspect(request: QueuedRequest) {
    request.retriesAlone = true;
    circuits.markSuspect(request.key);
  }

  function strike(request: QueuedRequest, cause: StopCause) {
    request.settle(stopped(request, cause, limits.timeoutMs));
    const { kind, retryAfterSeconds } = circuits.strike(request.key, now());
    const webhook = request.transform.id;
    log.warn({ webhook, cause }, 'transform stopped');
    recorder.transformStopped(cause);
    if (kind === 'quarantined') {
      log.warn({ webhook, retryAfterSeconds }, 'transform quarantined');
      recorder.transformQuarantined();
    }
    main.recall(request.key);
    requeue(request.key);
  }

  /** A circuit state has changed: moves queued requests to the pool where they now belong. */
  function requeue(key: string) {
    for (const request of [...suspects.withdraw(key), ...main.withdraw(key)]) submit(request);
  }
}
