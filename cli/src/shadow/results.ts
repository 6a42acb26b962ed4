/** The output of `tidegate shadow`: each difference, and the counts at the end. */
import { type Output, printable } from '../output.ts';
import type { Compared, Difference, Forwarded } from './compare.ts';

export class Results {
  readonly #output: Output;
  readonly #counts = { events: 0, alike: 0, different: 0, differences: 0, not_compared: 0 };

  constructor(output: Output) {
    this.#output = output;
  }

  get areDifferent(): boolean {
    return this.#counts.different > 0;
  }

  note(text: string): void {
    this.#output.note(printable(text));
  }

  add({ internalId, hereId, name }: Forwarded, { differences, notCompared, unfinished, ran }: Compared): void {
    this.#counts.events++;
    this.#counts[differences.length > 0 ? 'different' : 'alike']++;
    this.#counts.differences += differences.length;
    this.#counts.not_compared += notCompared.length + unfinished.length;
    const begin = `${internalId}  ${name}`;
    for (const difference of differences) {
      const item = { kind: 'difference', event_name: name, there_id: internalId, here_id: hereId, ...difference };
      const text = `${begin}  ${difference.function_id}  ${inWords(difference)}`;
      this.#output.item(item, () => this.#output.line(printable(text)));
    }
    for (const id of unfinished) this.note(`${begin}  ${id} is not compared: it has not ended on both sides`);
    for (const id of ran) this.note(`${begin}  ${id} was called: it was not paused when the event came`);
  }

  addLate({ internalId, name }: Forwarded): void {
    this.#counts.events++;
    this.#counts.not_compared++;
    this.note(`${internalId}  ${name}  is not compared: it is not ingested here yet`);
  }

  end(): void {
    const { events, alike, different, differences, not_compared } = this.#counts;
    this.#output.item({ kind: 'summary', ...this.#counts }, () =>
      this.#output.line(
        `${events} events: ${alike} alike, ${different} different (${differences} differences), ${not_compared} not compared`,
      ),
    );
  }
}

function inWords({ where, reason, runs }: Difference): string {
  if (where === 'there') return `ran there, would not run here: ${reason}`;
  if (!runs) return 'would run here, did not run there';
  const { there, here } = runs;
  if (reason === 'status') return `ended differently: ${there.status} there, ${here.status} here (run ${here.run_id})`;
  return `returned something else: run ${there.run_id} there, ${here.run_id} here`;
}
