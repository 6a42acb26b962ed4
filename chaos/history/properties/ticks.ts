/** Ticks of a schedule: each starts one run at most, none before its time, and those that start none are in a gap in which nothing ran. */
import type { Execution } from '../entry.ts';
import type { History } from '../history.ts';
import { seconds, type Violation } from '../violation.ts';

export interface Schedule {
  functionId: string;
  everyMs: number;
  /** When nothing runs for longer, ticks may be skipped. */
  gapMs: number;
}

/** How long the clock of a process is wrong at most, and by how much. */
const CLOCK_MS = 15_000;
const ROUNDED_MS = 20;

export function checkTicks(history: History, schedule: Schedule): Violation[] {
  const starts = history.firstStarts(schedule.functionId).filter(({ tickMs }) => tickMs !== undefined);
  return [...twice(starts, schedule), ...early(history, starts, schedule), ...skipped(history, starts, schedule)];
}

function twice(starts: readonly Execution[], { functionId }: Schedule): Violation[] {
  const byTick = Map.groupBy(starts, ({ tickMs = 0 }) => tickMs);
  return [...byTick].flatMap(([tickMs, proof]) =>
    proof.length === 1
      ? []
      : [{ what: `${functionId}: ${proof.length} runs of the tick at ${seconds(tickMs)}`, proof }],
  );
}

function early(history: History, starts: readonly Execution[], { functionId }: Schedule): Violation[] {
  return starts.flatMap((start) => {
    const { tickMs = 0, atMs } = start;
    if (atMs >= tickMs - ROUNDED_MS || history.isClockWrong(atMs - CLOCK_MS, atMs)) return [];
    return [{ what: `${functionId}: the tick at ${seconds(tickMs)} ran at ${seconds(atMs)}`, proof: [start] }];
  });
}

function skipped(
  history: History,
  starts: readonly Execution[],
  { functionId, everyMs, gapMs }: Schedule,
): Violation[] {
  const byTick = starts.toSorted((a, b) => (a.tickMs ?? 0) - (b.tickMs ?? 0));
  return byTick.slice(1).flatMap((next, index) => {
    const before = byTick[index] as Execution;
    const [fromMs, untilMs] = [before.tickMs ?? 0, next.tickMs ?? 0];
    const missing = Math.round((untilMs - fromMs) / everyMs) - 1;
    if (missing <= 0 || hasGap(starts, fromMs, untilMs, gapMs)) return [];
    if (history.isClockWrong(fromMs - CLOCK_MS, untilMs + CLOCK_MS)) return [];
    return [
      {
        what: `${functionId}: ${missing} ticks between ${seconds(fromMs)} and ${seconds(untilMs)} started no run, though it ran meanwhile`,
        proof: [before, next],
      },
    ];
  });
}

/** @returns whether no run started for so long, at a time between the two ticks */
function hasGap(starts: readonly Execution[], fromMs: number, untilMs: number, gapMs: number): boolean {
  return starts.slice(1).some((next, index) => {
    const before = starts[index] as Execution;
    return next.atMs - before.atMs >= gapMs && before.atMs <= untilMs && next.atMs >= fromMs;
  });
}
