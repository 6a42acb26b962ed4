/** JSON read without losing a digit. JavaScript numbers hold 53 bits; order and payment IDs may have more. Values that a number would
 *  change are carried as `JSON.rawJSON` and written back as they came.
 *
 *  A reviver of JSON.parse would be shorter, and costs 200 ms for 512 KB of small numbers with one large one among them. So such numbers
 *  are first written as marked strings, and the marked strings replaced in what was parsed: 30 ms. */
import { randomBytes } from 'node:crypto';

/** Numbers that might not survive a round trip: many digits, or a large exponent. */
const RISKY_NUMBER = /\d{16}|[eE][+-]?\d{3}/;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** Whole numbers of so many digits are held exactly. */
const SAFE_DIGITS = 15;

/** No sender knows it, and no answer tells it. Not long: a text may hold a hundred thousand. */
const MARK = `#${randomBytes(6).toString('base64url')}`;

const [QUOTE, BACKSLASH, MINUS, PLUS, POINT, COLON, ZERO, NINE, LOWER_E, UPPER_E] = [...'"\\-+.:09eE'].map((letter) =>
  letter.charCodeAt(0),
) as [number, number, number, number, number, number, number, number, number, number];

/** Each costs half a microsecond of the main thread: in a batch of 500 events, 40 each. */
const MAX_EXACT = 20_000;

/** @throws SyntaxError as JSON.parse does; also where there are more numbers that a double cannot hold than anybody needs */
export function parseExact(text: string): unknown {
  return parse(text, () => {
    throw new SyntaxError(
      `it has more than ${MAX_EXACT} numbers that a double cannot hold; send them as strings, or in several requests`,
    );
  });
}

/** What was stored as it came, by an app say: with more such numbers than MAX_EXACT, the others are as a double holds them. */
export function parseStored(text: string): unknown {
  return parse(text, () => {});
}

/** @param tooMany called once there are more such numbers than MAX_EXACT; those that follow are left as they are */
function parse(text: string, tooMany: () => void): unknown {
  const marked = RISKY_NUMBER.test(text) ? marking(text, tooMany) : undefined;
  if (marked === undefined) return JSON.parse(text);
  let value: unknown;
  try {
    value = JSON.parse(marked);
  } catch {
    // Its words are about the text as it came.
    return JSON.parse(text);
  }
  return unmarked(value);
}

/** @returns undefined when there is no such number */
function marking(text: string, tooMany: () => void): string | undefined {
  let marked = '';
  let done = 0;
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) i = endOfString(text, i);
    else if (code === MINUS || isDigit(code)) {
      const whole = endOfDigits(text, i);
      const end = endOfNumber(text, whole);
      // Most are small and whole, and looked at no further.
      const isSmall = whole === end && end - i <= SAFE_DIGITS && code > ZERO;
      if (!isSmall && isInexact(text.slice(i, end)) && !isBeforeColon(text, end)) {
        if (++count > MAX_EXACT) {
          tooMany();
          break;
        }
        marked += `${text.slice(done, i)}"${MARK}${text.slice(i, end)}"`;
        done = end;
      }
      i = end - 1;
    }
  }
  return done === 0 ? undefined : marked + text.slice(done);
}

function unmarked(root: unknown): unknown {
  if (isMarked(root)) return exact(root);
  const open: object[] = typeof root === 'object' && root !== null ? [root] : [];
  for (let holder = open.pop(); holder !== undefined; holder = open.pop()) {
    // An array's indices as text would cost more than all the rest.
    if (Array.isArray(holder)) for (let i = 0; i < holder.length; i++) look(holder, i);
    else for (const key in holder) look(holder as Record<string, unknown>, key);
  }
  return root;

  function look<Key extends PropertyKey>(holder: Record<Key, unknown>, key: Key): void {
    const one = holder[key];
    if (typeof one === 'object' && one !== null) open.push(one);
    else if (isMarked(one)) holder[key] = exact(one);
  }
}

function isMarked(value: unknown): value is string {
  return typeof value === 'string' && value.startsWith(MARK);
}

function exact(marked: string): unknown {
  return rawJSON(marked.slice(MARK.length));
}

function isInexact(number: string): boolean {
  return String(Number(number)) !== number && NUMBER.test(number);
}

/** A number is no key, and must not become one. */
function isBeforeColon(text: string, at: number): boolean {
  let i = at;
  while (i < text.length && text.charCodeAt(i) <= 32) i++;
  return text.charCodeAt(i) === COLON;
}

function endOfDigits(text: string, start: number): number {
  let i = start;
  while (i < text.length && isDigit(text.charCodeAt(i))) i++;
  return i;
}

function endOfNumber(text: string, start: number): number {
  let i = start;
  while (i < text.length && isOfNumber(text.charCodeAt(i))) i++;
  return i;
}

function isOfNumber(code: number): boolean {
  return isDigit(code) || code === POINT || code === LOWER_E || code === UPPER_E || code === PLUS || code === MINUS;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

/** @param start where it begins, at its quote */
export function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) return i;
    if (code === BACKSLASH) i++;
  }
  return text.length;
}

/** In V8 since Node 21; not in TypeScript's library yet. */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };
