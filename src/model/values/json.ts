/** JSON values: types, maximum depth, and descriptions for messages. */
import { endOfString } from './exact-json.ts';

export { mayHaveLongIntegers, parseExact, parseIntegers, parseStored, rawJson } from './exact-json.ts';

export const MAX_DEPTH = 500;

const [QUOTE, OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [...'"{}[]'].map((letter) =>
  letter.charCodeAt(0),
) as [number, number, number, number, number];

/** Whether `value` is nested at most MAX_DEPTH levels, so that recursive serializers can handle it.
 *  @param text the JSON text of `value`, if available: scanning it is faster */
export function isShallow(value: unknown, text?: string): boolean {
  return (text !== undefined && isShallowJson(text)) || depthWithin(value, MAX_DEPTH);
}

/** Whether JSON text is nested at most MAX_DEPTH levels. Scans in linear time without parsing; exact for valid JSON only. Skips text
 *  shorter than twice MAX_DEPTH, which cannot be nested deeper. */
export function isShallowJson(text: string): boolean {
  if (text.length < 2 * MAX_DEPTH || opensSeldom(text)) return true;
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

/** Whether the text has at most MAX_DEPTH opening brackets, as most texts do. Counting them takes a tenth of the time of a scan, which takes
 *  nearly as long as parsing. */
function opensSeldom(text: string): boolean {
  let count = 0;
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      if (++count > MAX_DEPTH) return false;
    }
  }
  return true;
}

function depthWithin(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (levels === 0) return false;
  for (const key in value) {
    if (!depthWithin((value as Record<string, unknown>)[key], levels - 1)) return false;
  }
  return true;
}

/** @returns the value; undefined if the text is not JSON */
export function tryParseJson(text: string, parse: (text: string) => unknown = JSON.parse): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

/** @returns the value; undefined if the text is not JSON, or nested too deeply */
export function tryParseShallow(text: string, parse?: (text: string) => unknown): unknown {
  const value = tryParseJson(text, parse);
  return isShallow(value, text) ? value : undefined;
}

/** Whether the text is JSON that is not nested too deeply. */
export function isJson(text: string): boolean {
  return isShallowJson(text) && tryParseJson(text) !== undefined;
}

export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawJson(value);
}

export function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** A number that a double cannot represent. */
export function isRawJson(value: object): value is { rawJSON: string } {
  return Object.getPrototypeOf(value) === null && 'rawJSON' in value;
}

/** "an array", "the string \"x\"", "nothing": for error messages. */
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
