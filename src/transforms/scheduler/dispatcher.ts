import type { StopCause, TransformResult } from '../protocol.ts';
import { outcomeOf, quarantined, stopped } from '../result.ts';
import type { Death, SandboxOptions } from '../sandbox.ts';
import { type CircuitBreakerRules, CircuitBreakers } from './circuit-breaker.ts';
import { DurationEstimate } from './duration-estimate.ts';
import type { FairQueue } from './fair-queue.ts';
import type { Batch, Load } from './in-flight.ts';
import { Pool } from './pool.ts';
import { interrupted, type QueuedRequest } from './queued-request.ts';

/** So often alone in a child that ended itself, and a request is guilty: once may be a coincidence. */
const CRASHES = 2;
/** Requests sent ahead for each thread, so that it need not wait for the parent between two batches. */
const AHEAD = 16;

export interface DispatcherOptions {
  sandbox: SandboxOptions;
  standing: CircuitBreakerRules;
  places: number;
  idleMs: number;
}

export interface Dispatcher {
  admit(ticket: QueuedRequest): void;
  /** Tickets that wait, and those that are in a child. */
  use(): { waiting: number; inFlight: number };
  /** Nothing is kept of this webhook. */
  evict(id: string): void;
  close(): Promise<void>;
}

/** Who runs where, and who is to blame when a child dies. In the main lane all transforms in good standing run side by
 *  side. Whoever was in a child that died, and whoever had to be stopped, goes to the lane of suspects and runs there
 *  alone, so that guilt shows and hurts nobody else. */
export function createDispatcher({ sandbox, standing, places, idleMs }: DispatcherOptions): Dispatcher {
  const { log, now, limits, meter } = sandbox;
  const standings = new CircuitBreakers(standing);
  const pace = new DurationEstimate();
  const main = new Pool({ sandbox, places, next: nextInMain, onVerdict, onDeath: onDeathInMain });
  const alone = { ...sandbox, limits: { ...limits, threads: 1 } };
  const suspects = new Pool({
    sandbox: alone,
    places,
    idleMs,
    next: nextSuspect,
    onVerdict,
    onDeath: onDeathOfSuspect,
  });

  return {
    admit,
    use: () => ({ waiting: main.waiting + suspects.waiting, inFlight: main.inFlight + suspects.inFlight }),
    evict(id) {
      main.evict(id);
      suspects.evict(id);
    },
    close: async () => {
      await Promise.all([main.close(), suspects.close()]);
    },
  };

  function admit(ticket: QueuedRequest) {
    const { kind, retryAfterSeconds } = standings.of(ticket.key, now());
    if (kind === 'quarantined') ticket.settle(quarantined(retryAfterSeconds));
    else if (kind === 'suspect' || ticket.caught) suspects.enter(ticket);
    else main.enter(ticket);
  }

  /** Slow transforms always leave one thread to the others, and do not wait inside the child, where nobody overtakes. */
  function nextInMain(waiting: FairQueue, load: Load): Batch | undefined {
    if (load.tickets >= limits.threads * AHEAD) return undefined;
    const ticket = waiting.take((key) => load.slow < Math.max(1, limits.threads - 1) || !pace.slow(key));
    if (ticket === undefined) return undefined;
    const { key } = ticket;
    return { tickets: [ticket, ...waiting.more(key, pace.batch(key) - 1)], slow: pace.slow(key) };
  }

  /** One at a time: first those that have been cleared since they were caught, last those that were proved guilty. */
  function nextSuspect(waiting: FairQueue, load: Load): Batch | undefined {
    if (load.tickets > 0) return undefined;
    const cleared = waiting.take((key) => standings.of(key, now()).kind === 'good');
    const ticket = cleared ?? waiting.take((key) => !standings.struck(key, now())) ?? waiting.take();
    return ticket && { tickets: [ticket], slow: true };
  }

  function onVerdict(ticket: QueuedRequest, verdict: TransformResult) {
    if ('stopped' in verdict) return convict(ticket, verdict.stopped);
    pace.note(ticket.key, verdict.durationMs);
    meter.transformRan(verdict.durationMs);
    ticket.settle(outcomeOf(ticket, verdict.text, verdict.durationMs));
    if (standings.ranWell(ticket.key, now())) reseat(ticket.key);
  }

  /** Guilt is certain only for who was alone and overdue. A child can also die for no fault of what ran in it, so all
   *  others have one more try, alone. */
  function onDeathInMain({ caught: { begun, waiting }, cause }: Death) {
    const caught = [...waiting, ...begun];
    const [first, ...others] = caught;
    if (first && others.length === 0 && cause === 'time') return convict(first, cause);
    if (cause === 'killed') return again(begun, waiting);
    if (cause !== 'recalled') for (const ticket of caught) accuse(ticket);
    for (const ticket of caught) admit(ticket);
    for (const key of new Set(caught.map(({ key }) => key))) reseat(key);
  }

  /** After a death that came from outside: whoever ran goes alone, since the kernel's out-of-memory killer is outside too;
   *  its webhook is as good as before. */
  function again(begun: readonly QueuedRequest[], waiting: readonly QueuedRequest[]) {
    for (const ticket of begun) ticket.caught = true;
    for (const ticket of [...waiting, ...begun]) admit(ticket);
  }

  function onDeathOfSuspect({ caught: { begun, waiting }, cause }: Death) {
    for (const ticket of [...begun, ...waiting]) {
      if (cause === 'killed') ticket.settle(interrupted());
      else if (cause === 'recalled') admit(ticket);
      else if (cause !== 'crash') convict(ticket, cause);
      else {
        ticket.crashes += 1;
        if (ticket.crashes < CRASHES) suspects.enter(ticket);
        else convict(ticket, 'memory');
      }
    }
  }

  function accuse(ticket: QueuedRequest) {
    ticket.caught = true;
    standings.suspect(ticket.key);
  }

  function convict(ticket: QueuedRequest, cause: StopCause) {
    ticket.settle(stopped(ticket, cause, limits.timeoutMs));
    const { kind, retryAfterSeconds } = standings.strike(ticket.key, now());
    const webhook = ticket.transform.id;
    log.warn({ webhook, cause }, 'a transform had to be stopped');
    meter.transformStopped(cause);
    if (kind === 'quarantined') {
      log.warn({ webhook, retryAfterSeconds }, 'a transform is quarantined');
      meter.transformQuarantined();
    }
    main.recall(ticket.key);
    reseat(ticket.key);
  }

  /** A standing has changed: those that wait go where they now belong. */
  function reseat(key: string) {
    for (const ticket of [...suspects.withdraw(key), ...main.withdraw(key)]) admit(ticket);
  }
}
