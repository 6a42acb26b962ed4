/** What was broken, and when: printed when a run finds something, and asked whether a fault was in flight at a given moment. */

export interface Entry {
  /** Milliseconds since the run began. */
  fromMs: number;
  /** undefined: it lasts. */
  untilMs?: number;
  what: string;
  /** Whether a call in flight at that moment may have to be made again: a crash, or a Redis that does not take the answer. */
  excuses: boolean;
}

const STARVED = 'the machine gives the service too little CPU time';

export class Timeline {
  readonly entries: Entry[] = [];
  readonly #startedAt = performance.now();
  readonly #print: (line: string) => void;

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  get nowMs(): number {
    return performance.now() - this.#startedAt;
  }

  note(what: string): void {
    this.#add({ fromMs: this.nowMs, untilMs: this.nowMs, what, excuses: false });
  }

  /** The machine gave this program no time: nor, perhaps, the service. */
  starved(fromMs: number, untilMs: number): void {
    const last = this.entries.at(-1);
    // One line for as long as it lasts.
    if (last?.what === STARVED && last.untilMs === fromMs) last.untilMs = untilMs;
    else this.#add({ fromMs, untilMs, what: STARVED, excuses: true });
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

  /** Whether anything that excuses a repeated call was broken at any moment between the two. */
  excuses(fromMs: number, untilMs: number): boolean {
    return this.entries.some(
      (entry) => entry.excuses && entry.fromMs <= untilMs && (entry.untilMs ?? Number.POSITIVE_INFINITY) >= fromMs,
    );
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
