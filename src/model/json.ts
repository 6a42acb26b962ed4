/** JSON in and out without losing a digit. JavaScript numbers hold 53 bits; order and payment IDs may have more.
 *  Values that a number would change are carried as `JSON.rawJSON` and written back as they came. */

/** Numbers that might not survive a round trip: many digits, or a large exponent. */
const RISKY_NUMBER = /\d{16}|[eE][+-]?\d{3}/;

/** @throws SyntaxError as JSON.parse does */
export function parseExact(text: string): unknown {
  return RISKY_NUMBER.test(text) ? SourceJson.parse(text, keepDigits) : JSON.parse(text);
}

function keepDigits(_key: string, value: unknown, context: { source?: string }): unknown {
  const exact = typeof value !== 'number' || context.source === undefined || String(value) === context.source;
  return exact ? value : SourceJson.rawJSON(context.source as string);
}

/** In V8 since Node 21; not in TypeScript's library yet. */
const SourceJson = JSON as unknown as {
  parse(text: string, reviver: typeof keepDigits): unknown;
  rawJSON(text: string): unknown;
};

export const MAX_DEPTH = 500;

const [QUOTE, BACKSLASH, OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [...'"\\{}[]'].map((letter) =>
  letter.charCodeAt(0),
) as [number, number, number, number, number, number];

/** Whether `value` nests no deeper than MAX_DEPTH, so that every later writer of it, recursive or not, can write it.
 *  @param text that it was read from, where there is one: it is sooner looked through than the value */
export function isShallow(value: unknown, text?: string): boolean {
  return (text !== undefined && isShallowText(text)) || depthWithin(value, MAX_DEPTH);
}

/** Of valid JSON. One shorter than twice MAX_DEPTH cannot nest so deep, and is not looked at. */
function isShallowText(text: string): boolean {
  if (text.length < 2 * MAX_DEPTH) return true;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) i = endOfString(text, i);
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--;
    if (depth > MAX_DEPTH) return false;
  }
  return true;
}

/** @param start where it begins, at its quote */
function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) return i;
    if (code === BACKSLASH) i++;
  }
  return text.length;
}

function depthWithin(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (levels === 0) return false;
  for (const key in value) {
    if (!depthWithin((value as Record<string, unknown>)[key], levels - 1)) return false;
  }
  return true;
}

export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawJson(value);
}

function isRawJson(value: object): boolean {
  return Object.getPrototypeOf(value) === null && 'rawJSON' in value;
}

/** "an array", "the string \"x\"", "nothing": how an error names what it got. */
export function describe(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return isRawJson(value) ? `the number ${JSON.stringify(value)}` : 'an object';
  if (typeof value === 'string') {
    return value.length > 64 ? `a string of ${value.length} characters` : `the string ${JSON.stringify(value)}`;
  }
  return `the ${typeof value} ${String(value)}`;
}
