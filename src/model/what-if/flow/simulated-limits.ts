/** The backlogs of a simulation: calls wait for permits of all their limits, first in, first out for each combination of keys. */
import type { FlowOptions } from '../../flow-control/options.ts';
import { Composed } from '../../values/composed.ts';
import { Heap } from '../../values/heap.ts';
import type { SimulatedEvent } from './simulated-flow.ts';
import type { Timeline } from './timeline.ts';

export interface WaitingCall {
  /** The lower, the earlier. */
  score: number;
  isStart: boolean;
  event: SimulatedEvent;
  /** Whether the run of the call has ended in the meantime. */
  isOver(): boolean;
  /** Called when the call has its permits. */
  begin(): void;
}

interface Limit {
  kind: 'throttle' | 'run' | 'step';
  limit: number;
  used: number;
  backlogs: Set<Backlog>;
  /** For a throttle only, like `toleranceMs` and `nextAt`. */
  intervalMs: number;
  toleranceMs: number;
  /** Theoretical time of its next start (GCRA). */
  nextAt: number;
  /** Time of its next check. */
  checkAt?: number | undefined;
}

interface Backlog {
  limits: readonly Limit[];
  calls: Heap<{ call: WaitingCall; order: number }>;
}

export class SimulatedLimits extends Composed<{ options: FlowOptions; timeline: Timeline }> {
  readonly #limits = new Map<string, Limit>();
  readonly #backlogs = new Map<string, Backlog>();
  #order = 0;

  request(call: WaitingCall): void {
    const backlog = this.#backlogOf(call);
    backlog.calls.push({ call, order: this.#order++ });
    this.#admit([backlog]);
  }

  /** Returns the permits of whole runs, or of calls. */
  release(kind: 'run' | 'step', event: SimulatedEvent): void {
    const limits = this.#limitsOf(kind, event);
    for (const limit of limits) limit.used--;
    for (const limit of limits) this.#admit(limit.backlogs);
  }

  /** Admits the first calls of these backlogs, the earliest first, while there are permits. */
  #admit(backlogs: Iterable<Backlog>): void {
    for (;;) {
      let [first, firstOf]: [Backlog | undefined, { call: WaitingCall; order: number } | undefined] = [
        undefined,
        undefined,
      ];
      for (const backlog of backlogs) {
        this.deps.timeline.spend();
        const head = this.#headOf(backlog);
        if (!head || !this.#hasRoom(backlog)) continue;
        if (!firstOf || isEarlier(head, firstOf)) [first, firstOf] = [backlog, head];
      }
      if (!first || !firstOf || this.deps.timeline.isUsedUp) return;
      first.calls.pop();
      this.#headOf(first);
      for (const limit of first.limits) this.#take(limit);
      firstOf.call.begin();
    }
  }

  #headOf(backlog: Backlog): { call: WaitingCall; order: number } | undefined {
    while (backlog.calls.least?.call.isOver()) backlog.calls.pop();
    const head = backlog.calls.least;
    for (const { backlogs } of backlog.limits) {
      if (head) backlogs.add(backlog);
      else backlogs.delete(backlog);
    }
    return head;
  }

  #hasRoom({ limits }: Backlog): boolean {
    return limits.every((limit) => {
      if (limit.kind !== 'throttle') return limit.used < limit.limit;
      const at = limit.nextAt - limit.toleranceMs;
      if (at > this.deps.timeline.nowMs) this.#checkAt(limit, at);
      return at <= this.deps.timeline.nowMs;
    });
  }

  #checkAt(limit: Limit, at: number): void {
    if (limit.checkAt !== undefined && limit.checkAt <= at) return;
    limit.checkAt = at;
    this.deps.timeline.set(at, () => {
      limit.checkAt = undefined;
      this.#admit(limit.backlogs);
    });
  }

  #take(limit: Limit): void {
    if (limit.kind === 'throttle') limit.nextAt = Math.max(limit.nextAt, this.deps.timeline.nowMs) + limit.intervalMs;
    else limit.used++;
  }

  #backlogOf({ isStart, event }: WaitingCall): Backlog {
    const ids = [isStart, isStart && event.throttle, isStart && event.run, event.step];
    return made(this.#backlogs, JSON.stringify(ids), () => ({
      limits: [
        ...(isStart ? [...this.#throttleOf(event), ...this.#limitsOf('run', event)] : []),
        ...this.#limitsOf('step', event),
      ],
      calls: new Heap(isEarlier),
    }));
  }

  #limitsOf(kind: 'run' | 'step', event: SimulatedEvent): Limit[] {
    const limits = this.deps.options[kind === 'run' ? 'runConcurrency' : 'stepConcurrency'];
    return limits.map(({ limit }, i) => this.#limit(kind, i, event[kind][i] ?? '', { limit }));
  }

  #throttleOf({ throttle: key }: SimulatedEvent): Limit[] {
    const { throttle } = this.deps.options;
    if (!throttle) return [];
    const { limit, periodMs, burst } = throttle;
    const intervalMs = periodMs / limit;
    return [this.#limit('throttle', 0, key, { limit, intervalMs, toleranceMs: intervalMs * (limit + burst - 1) })];
  }

  #limit(
    kind: Limit['kind'],
    number: number,
    key: string,
    given: Pick<Limit, 'limit'> & Partial<Pick<Limit, 'intervalMs' | 'toleranceMs'>>,
  ): Limit {
    return made(this.#limits, JSON.stringify([kind, number, key]), () => ({
      ...{ kind, used: 0, backlogs: new Set(), nextAt: Number.NEGATIVE_INFINITY, intervalMs: 0, toleranceMs: 0 },
      ...given,
    }));
  }
}

function isEarlier(a: { call: WaitingCall; order: number }, b: { call: WaitingCall; order: number }): boolean {
  return a.call.score < b.call.score || (a.call.score === b.call.score && a.order < b.order);
}

function made<T>(all: Map<string, T>, key: string, make: () => T): T {
  const found = all.get(key) ?? make();
  all.set(key, found);
  return found;
}
