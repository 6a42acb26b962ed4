/** The `cancel` triggers of functions: events that end a run. */
import type { AppFunction, CancelTrigger } from '../model/app.ts';
import { durationMs } from '../model/duration.ts';
import type { Envelope } from '../model/event.ts';
import { type Wait, waitKey } from '../model/wait.ts';
import type { Waits } from '../store/waits.ts';
import type { Arrivals } from './arrivals.ts';

/** A run that is about to start. */
interface StartingRun {
  id: string;
  fn: AppFunction;
  event: Pick<Envelope, 'env' | 'internalId' | 'receivedAt'>;
}

export class Cancels {
  readonly #waits: Waits;
  readonly #arrivals: Arrivals;

  constructor(waits: Waits, arrivals: Arrivals) {
    this.#waits = waits;
    this.#arrivals = arrivals;
  }

  /** Watches for what cancels the runs, and looks back: it may have come while the run was being made. */
  async watch(runs: readonly StartingRun[], nowMs: number): Promise<void> {
    for (const { id, fn, event } of runs) {
      for (const [i, trigger] of fn.cancel.entries()) {
        const wait = toWait(trigger, id, event.internalId, nowMs);
        const key = waitKey(wait, i);
        await this.#waits.add(event.env, trigger.event, key, wait);
        await this.#arrivals.lookBack(event.env, trigger.event, { key, wait }, event.receivedAt);
      }
    }
  }
}

function toWait({ expression, timeout }: CancelTrigger, runId: string, eventId: string, nowMs: number): Wait {
  const duration = timeout === undefined ? undefined : durationMs(timeout);
  return {
    runId,
    eventId,
    ...(expression && { expression }),
    ...(duration !== undefined && { until: nowMs + duration }),
  };
}
