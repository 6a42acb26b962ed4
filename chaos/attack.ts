/** Injects one fault after another: first each kind once, then random ones, for the time that the options set. */
import { setTimeout } from 'node:timers/promises';
import { type ChaosContext, FAULTS, type Fault } from './faults/faults.ts';
import type { Options } from './options.ts';
import type { Timeline } from './timeline.ts';

export interface InjectedFaults {
  faults: Record<string, number>;
  skipped: string[];
}

const PAUSE_LEAST_MS = 200;
const PAUSE_MOST_MS = 1_200;

export async function injectFaults(
  context: ChaosContext,
  timeline: Timeline,
  options: Options,
): Promise<InjectedFaults> {
  const chosen = FAULTS.filter(({ name }) => options.only?.includes(name) ?? true);
  const leftOut = chosen.flatMap((fault) => fault.unavailable?.(context) ?? []);
  const possible = chosen.filter((fault) => fault.unavailable?.(context) === undefined);
  const { random } = context;
  const first = random.shuffled(possible);
  const faults: Record<string, number> = {};
  let ended = 0;
  const untilMs = timeline.nowMs + options.minutes * 60_000;
  const latestMs = timeline.nowMs + options.atMostMinutes * 60_000;
  while (timeline.nowMs < untilMs || (ended < options.kills && timeline.nowMs < latestMs)) {
    const fault: Fault = first.pop() ?? random.weighted(possible);
    await timeline.during(fault.name, fault.excuses, () => fault.run(context));
    faults[fault.name] = (faults[fault.name] ?? 0) + 1;
    ended += fault.ends;
    await setTimeout(random.between(PAUSE_LEAST_MS, PAUSE_MOST_MS));
  }
  return { faults, skipped: leftOut };
}
