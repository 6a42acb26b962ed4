/** Injects one fault after another: first each kind once, if the longest time allows that, then random ones, for the time that the options set. */
import { setTimeout } from 'node:timers/promises';
import type { ChaosContext, Fault } from './faults/fault.ts';
import type { Options } from './options.ts';
import type { Timeline } from './timeline.ts';

export interface InjectedFaults {
  faults: Record<string, number>;
  skipped: string[];
}

const PAUSE_LEAST_MS = 200;
const PAUSE_MOST_MS = 1_200;

export async function injectFaults<Context extends ChaosContext>(
  faultsOfTarget: readonly Fault<Context>[],
  context: Context,
  timeline: Timeline,
  options: Options,
): Promise<InjectedFaults> {
  const chosen = faultsOfTarget.filter(({ name }) => options.only?.includes(name) ?? true);
  const leftOut = chosen.flatMap((fault) => fault.unavailable?.(context) ?? []);
  const possible = chosen.filter((fault) => fault.unavailable?.(context) === undefined);
  const { random } = context;
  const first = random.shuffled(possible);
  const faults: Record<string, number> = {};
  let ended = 0;
  const untilMs = timeline.nowMs + options.minutes * 60_000;
  const latestMs = timeline.nowMs + options.atMostMinutes * 60_000;
  const isNeeded = () => first.length > 0 || ended < options.kills;
  while (timeline.nowMs < untilMs || (isNeeded() && timeline.nowMs < latestMs)) {
    const fault = first.pop() ?? random.weighted(possible);
    await timeline.during(fault.name, fault.excuses, () => fault.run(context));
    faults[fault.name] = (faults[fault.name] ?? 0) + 1;
    ended += fault.ends;
    await setTimeout(random.between(PAUSE_LEAST_MS, PAUSE_MOST_MS));
  }
  const late = first.map(({ name }) => `no time was left for ${name}`);
  return { faults, skipped: [...new Set([...leftOut, ...late])] };
}
