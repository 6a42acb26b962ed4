/** Gist of an event's data for one line of a list: its first plain values, `customer: "c_1", total: 99.5`. Values of the top level come first,
 *  then values one level deeper. The work is bounded for data of any size. */
import { isJsonObject, isRawJson, parseStored } from '../values/json.ts';

const GIST_CHARS = 120;
const VALUE_CHARS = 40;
const KEY_CHARS = 40;
/** Maximum number of values, objects and lists read. */
const MAX_NODES = 200;
/** Maximum number of characters read of a payload. */
const HEAD_CHARS = 4_096;
/** Deeper levels of a truncated payload are left out. */
const MAX_NESTING = 16;

/** @returns at most 120 characters; '' if there is no plain value near the beginning */
export function gistOf(data: unknown): string {
  const [top, nested] = pairsOf(data);
  let gist = '';
  for (const pair of [...top, ...nested]) {
    const longer = gist === '' ? pair : `${gist}, ${pair}`;
    if (longer.length > GIST_CHARS) break;
    gist = longer;
  }
  return gist;
}

/** The beginning of an event's JSON text that its gist needs. A copy, because a slice would keep the whole text in memory. */
export function headOf(payload: string): string {
  return payload.length <= HEAD_CHARS ? payload : Buffer.from(payload.slice(0, HEAD_CHARS)).toString();
}

/** @param head the beginning of the JSON text of an event */
export function gistOfHead(head: string): string {
  try {
    return gistOf((parseStored(head.length < HEAD_CHARS ? head : completed(head)) as { data?: unknown }).data);
  } catch {
    return '';
  }
}

function pairsOf(data: unknown): [top: string[], nested: string[]] {
  const levels: [string[], string[]] = [[], []];
  let nodes = 0;
  const collect = (value: object, path: string, level: 0 | 1) => {
    for (const key in value) {
      // SDKs keep internal fields under names that begin with an underscore.
      if (key.startsWith('_')) continue;
      if (++nodes > MAX_NODES) return;
      const field = (value as Record<string, unknown>)[key];
      const text = plainText(field);
      const name = path + cut(key, KEY_CHARS);
      if (text !== undefined) levels[level].push(`${name}: ${text}`);
      else if (level === 0 && isJsonObject(field)) collect(field, `${name}.`, 1);
    }
  };
  if (isJsonObject(data)) collect(data, '', 0);
  return levels;
}

/** undefined for an object, a list, null or an empty text. */
function plainText(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : JSON.stringify(cut(value, VALUE_CHARS));
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'object' && value !== null && isRawJson(value)) return cut(value.rawJSON, VALUE_CHARS);
  return undefined;
}

function cut(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars - 1)}…`;
}

/** Turns truncated JSON text into valid JSON by dropping its incomplete end. */
function completed(text: string): string {
  const closers: string[] = [];
  let end = 0;
  let open: string[] = [];
  for (let i = 0; i < text.length; i++) {
    const letter = text[i];
    if (letter === '"') i = endOfText(text, i);
    else if (letter === '{' || letter === '[') closers.push(letter === '{' ? '}' : ']');
    else if (letter === '}' || letter === ']') closers.pop();
    if (closers.length > MAX_NESTING) break;
    if (letter !== ',' && letter !== '{' && letter !== '[') continue;
    end = letter === ',' ? i : i + 1;
    open = [...closers];
  }
  return text.slice(0, end) + open.reverse().join('');
}

/** The index of the closing quotation mark, or of the end of the text. */
function endOfText(text: string, from: number): number {
  for (let i = from + 1; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === '"') return i;
  }
  return text.length;
}
