/** The entries of a run by their kind, as the properties read them. */
import { readFileSync, writeFileSync } from 'node:fs';
import type { Control, Entry, Execution, FaultEntry, Send, StoredEvent, StoredReplay, StoredRun } from './entry.ts';

/** Steps by clocks of the service, which such a fault sets. */
const CLOCK_FAULT = /^clock-/;
const APP_FAULT = /-app$/;
const APP_HANGS = /^hang-app$/;

export class History {
  readonly entries: readonly Entry[];
  readonly sends: readonly Send[];
  readonly controls: readonly Control[];
  /** In the order of their times. */
  readonly starts: readonly Execution[];
  readonly ends: readonly Execution[];
  readonly faults: readonly FaultEntry[];
  readonly events: readonly StoredEvent[];
  readonly runs: readonly StoredRun[];
  readonly replays: readonly StoredReplay[];
  /** Runs that a person or a replay started, not an event. */
  readonly reruns: ReadonlySet<string>;

  constructor(entries: readonly Entry[]) {
    const of = <Kind extends Entry['kind']>(kind: Kind) =>
      entries.filter((entry): entry is Extract<Entry, { kind: Kind }> => entry.kind === kind);
    const executions = of('execution').toSorted((a, b) => a.atMs - b.atMs);
    this.entries = entries;
    this.sends = of('send');
    this.controls = of('control').toSorted((a, b) => a.invokedMs - b.invokedMs);
    this.starts = executions.filter(({ phase }) => phase === 'start');
    this.ends = executions.filter(({ phase }) => phase === 'end');
    this.faults = of('fault');
    this.events = of('event');
    this.runs = of('run');
    this.replays = of('replay');
    this.reruns = new Set(this.runs.flatMap(({ runId, retryOf, replayId }) => (retryOf || replayId ? [runId] : [])));
  }

  static read(file: string): History {
    const lines = readFileSync(file, 'utf8').split('\n');
    return new History(lines.filter(Boolean).map((line) => JSON.parse(line) as Entry));
  }

  write(file: string): void {
    writeFileSync(file, this.entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  }

  /** The first start of each run of the function that an event or a tick started, the earliest first. */
  firstStarts(functionId: string): Execution[] {
    const first = new Map<string, Execution>();
    for (const start of this.starts) {
      if (start.functionId !== functionId || this.reruns.has(start.runId) || first.has(start.runId)) continue;
      first.set(start.runId, start);
    }
    return [...first.values()];
  }

  /** Whether a fault that excuses repeated calls was active in the interval. */
  excuses(fromMs: number, untilMs: number): boolean {
    return this.faults.some((fault) => fault.excuses && overlaps(fault, fromMs, untilMs));
  }

  /** Whether a worker may have lost a call in the interval, which may reach its app late. Faults of apps lose none. */
  mayLoseCalls(fromMs: number, untilMs: number): boolean {
    return this.faults.some(
      (fault) => fault.excuses && !APP_FAULT.test(fault.what) && overlaps(fault, fromMs, untilMs),
    );
  }

  /** Whether an app hung in the interval for longer than calls last: the service has given up those that it had, and the app still runs them. */
  hasAbandonedCalls(fromMs: number, untilMs: number): boolean {
    return this.faults.some((fault) => APP_HANGS.test(fault.what) && overlaps(fault, fromMs, untilMs));
  }

  /** Whether a call in the interval may have reached its app late: its worker died, or its app was stopped or killed. */
  mayReachAppLate(fromMs: number, untilMs: number): boolean {
    const isStopped = this.faults.some((fault) => APP_FAULT.test(fault.what) && overlaps(fault, fromMs, untilMs));
    return isStopped || this.excuses(fromMs, untilMs);
  }

  /** Whether a clock of the service was wrong in the interval. */
  isClockWrong(fromMs: number, untilMs: number): boolean {
    return this.faults.some((fault) => CLOCK_FAULT.test(fault.what) && overlaps(fault, fromMs, untilMs));
  }
}

function overlaps(fault: FaultEntry, fromMs: number, untilMs: number): boolean {
  return fault.fromMs <= untilMs && fault.untilMs >= fromMs;
}
