/** JSON that keeps all digits: a number that a double cannot hold becomes an ExactNumber. */

/** A number that a double cannot hold, as its digits. */
export class ExactNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  toString(): string {
    return this.source;
  }
}

type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;
const parse = JSON.parse as (text: string, reviver: Reviver) => unknown;
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };

export function parseExact(text: string): unknown {
  return parse(text, (_key, value, context) => {
    const source = context?.source;
    if (typeof value !== 'number' || source === undefined || isExact(value, source)) return value;
    return new ExactNumber(source);
  });
}

/** @param indent spaces per level */
export function stringifyExact(value: unknown, indent = 0): string {
  return (
    JSON.stringify(value, (_key, entry) => (entry instanceof ExactNumber ? rawJSON(entry.source) : entry), indent) ??
    'null'
  );
}

/** Whether the double equals the source: integers in every digit, others in value. */
function isExact(value: number, source: string): boolean {
  if (Number.isSafeInteger(value)) return true;
  if (/^-?\d+$/.test(source)) return String(value) === source;
  return Number.isFinite(value) && significantDigits(source) <= 17;
}

function significantDigits(source: string): number {
  return source
    .replace(/[eE].*$/, '')
    .replace(/[-.]/g, '')
    .replace(/^0+/, '').length;
}
