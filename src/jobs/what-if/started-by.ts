/** Evaluates triggers for a what-if: in turns, so that other work continues, and within a time. */
import { setImmediate } from 'node:timers/promises';
import type { AppFunction } from '../../model/apps/app.ts';
import { triggerEventOf } from '../../model/events/event.ts';
import { TriggerTable } from '../../model/events/triggers.ts';
import { EVALUATION_UNITS } from '../../model/expressions/expression.ts';
import type { FoundEvent } from '../../store/events/events.ts';

const TURN_MS = 10;

/** The table ignores pauses, because they do not depend on the code. */
export function tableOf(functions: readonly AppFunction[]): TriggerTable {
  return new TriggerTable(functions.map(({ pausedAt: _, ...fn }) => fn));
}

/** IDs of functions. An expression that costs too much is not met, and does not count against production's budget. */
export async function startedBy(event: FoundEvent, table: TriggerTable, turn: Turn): Promise<string[]> {
  const { source, received_at: receivedAt } = event;
  const read = () => triggerEventOf(event, source);
  const isMet: Parameters<TriggerTable['match']>[2] = ({ expression }, event) =>
    expression?.evaluate({ event }, EVALUATION_UNITS, receivedAt).result === 'met';
  const ids: string[] = [];
  for (const fn of table.match(event.name, read, isMet, source)) {
    if (fn) ids.push(fn.id);
    await turn.yieldIfLong();
  }
  return ids;
}

export class Turn {
  readonly #endsAt: number;
  #startedAt = performance.now();

  constructor(timeMs: number) {
    this.#endsAt = performance.now() + timeMs;
  }

  get isOver(): boolean {
    return performance.now() > this.#endsAt;
  }

  async yieldIfLong(): Promise<void> {
    if (performance.now() - this.#startedAt < TURN_MS) return;
    await setImmediate();
    this.#startedAt = performance.now();
  }
}
