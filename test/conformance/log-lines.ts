/** The lines of a batch that a case of the topic `logs` describes (clients/conformance/README.md#logs). */
import { expect } from 'chai';
import { only } from './cases.ts';

export interface LineCase {
  level: string;
  message: string | { of: string; at_most: number };
  fields?: Record<string, unknown>;
  /** Name of the step. */
  step?: string;
  times?: number;
}

/** With the hashed ID of the step, each once. */
export type ExpandedLine = Omit<LineCase, 'times'>;

/** A message that is shortened may lack so many characters. */
const SHORTER_MAX = 100;

export function expandedLines(given: readonly LineCase[], hash: (name: string) => string): ExpandedLine[] {
  return given.flatMap((whole) => {
    only(whole, ['level', 'message', 'fields', 'step', 'times']);
    const { times = 1, ...line } = whole;
    return Array(times).fill(line.step === undefined ? line : { ...line, step: hash(line.step) });
  });
}

/** @param range of their times, Unix milliseconds */
export function expectLines(
  actual: readonly { at: number; message: string }[],
  expected: readonly ExpandedLine[],
  { from, to }: { from: number; to: number },
): void {
  for (const { at } of actual) expect(at).to.be.within(from, to);
  const seen = actual.map(({ at: _, ...line }, n) => {
    const wanted = expected[n]?.message;
    return typeof wanted === 'object' && isShortened(line.message, wanted) ? { ...line, message: wanted } : line;
  });
  expect(seen).to.deep.equal(expected);
}

function isShortened(message: string, { of, at_most: max }: { of: string; at_most: number }): boolean {
  const text = message.replace(/…$/, '');
  return message.length <= max && text.length >= max - SHORTER_MAX && text === of.repeat(text.length);
}
