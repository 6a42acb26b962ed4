/** JSON that keeps all digits: a number that a double cannot represent keeps its text. Node before version 22 rounds it, as JSON.parse does. */

type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;
const parse = JSON.parse as (text: string, reviver: Reviver) => unknown;
const { rawJSON } = JSON as { rawJSON?: (text: string) => unknown };

/** @throws SyntaxError */
export function parseExact(text: string): unknown {
  if (!rawJSON) return JSON.parse(text);
  return parse(text, (_key, value, context) => {
    const source = context?.source;
    if (typeof value !== 'number' || source === undefined || isExact(value, source)) return value;
    return rawJSON(source);
  });
}

/** Whether the double equals the source: integers in every digit, others in value. */
function isExact(value: number, source: string): boolean {
  if (Number.isSafeInteger(value)) return true;
  if (/^-?\d+$/.test(source)) return String(value) === source;
  const digits = source
    .replace(/[eE].*$/, '')
    .replace(/[-.]/g, '')
    .replace(/^0+/, '');
  return Number.isFinite(value) && digits.length <= 17;
}
