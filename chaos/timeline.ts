/** The timeline of faults, and the clock of the history. */
import type { FaultEntry } from './history/entry.ts';

export interface Entry {
  /** Milliseconds since the run began. */
  fromMs: number;
  /** undefined while it lasts. */
  untilMs?: number;
  what: string;
  /** Whether a call in flight may be repeated: after a crash, or when Redis rejects writes. */
  excuses: boolean;
  /** What happened is no fault. */
  isNote?: true;
}

const STARVED = 'the machine gives the service too little CPU time';

export class Timeline {
  readonly entries: Entry[] = [];
  readonly #startedAt = performance.now();
  readonly #startedUnixMs = performance.timeOrigin + this.#startedAt;
  readonly #print: (line: string) => void;

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  get nowMs(): number {
    return performance.now() - this.#startedAt;
  }

  /** A time of another process of this machine, or of the service, as milliseconds since the run began. */
  sinceStart(unixMs: number): number {
    return unixMs - this.#startedUnixMs;
  }

  note(what: string): void {
    this.#add({ fromMs: this.nowMs, untilMs: this.nowMs, what, excuses: false, isNote: true });
  }

  /** CPU starvation: the machine gave the service too little CPU time. */
  starved(fromMs: number, untilMs: number): void {
    const last = this.entries.at(-1);
    // Merge consecutive intervals.
    if (last?.what === STARVED && last.untilMs === fromMs) last.untilMs = untilMs;
    else this.#add({ fromMs, untilMs, what: STARVED, excuses: true });
  }

  /** Whether the machine gave the service too little CPU time between these times. */
  hasStarved(fromMs: number, untilMs: number): boolean {
    return this.entries.some((entry) => {
      return entry.what === STARVED && entry.fromMs < untilMs && (entry.untilMs ?? untilMs) > fromMs;
    });
  }

  /** For how long it did so since a time, in milliseconds. */
  starvedSince(fromMs: number): number {
    return this.entries
      .filter(({ what }) => what === STARVED)
      .reduce((sum, entry) => sum + Math.max(0, (entry.untilMs ?? this.nowMs) - Math.max(fromMs, entry.fromMs)), 0);
  }

  async during<T>(what: string, excuses: boolean, work: () => Promise<T>): Promise<T> {
    const entry: Entry = { fromMs: this.nowMs, what, excuses };
    this.#add(entry);
    try {
      return await work();
    } finally {
      entry.untilMs = this.nowMs;
    }
  }

  faults(): FaultEntry[] {
    const faults = this.entries.filter(({ isNote }) => !isNote);
    return faults.map((entry) => ({ kind: 'fault', ...entry, untilMs: entry.untilMs ?? this.nowMs }));
  }

  text(): string {
    return this.entries.map(lineOf).join('\n');
  }

  #add(entry: Entry): void {
    this.entries.push(entry);
    this.#print(lineOf(entry));
  }
}

function lineOf({ fromMs, untilMs, what }: Entry): string {
  const seconds = (ms: number) => (ms / 1_000).toFixed(2).padStart(8);
  const length =
    untilMs !== undefined && untilMs - fromMs >= 10 ? `  (${((untilMs - fromMs) / 1_000).toFixed(2)} s)` : '';
  return `${seconds(fromMs)} s  ${what}${length}`;
}
