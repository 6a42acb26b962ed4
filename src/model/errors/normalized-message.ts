/** Error messages without the parts that vary from run to run: numbers, IDs, quoted texts, email addresses and URLs. */

/** Maximum length of a message that is read, and of the result. */
const READ_MAX = 1_000;
const KEPT_MAX = 300;
/** Maximum length of a quoted text. */
const QUOTED_MAX = 200;

const QUOTES = new Set(['"', "'", '`', '“', '‘', '«']);
const CLOSING: Readonly<Record<string, string>> = { '“': '”', '‘': '’', '«': '»' };
const WORD = /[\p{L}\p{M}\d_]/u;

const URL_START = /^[a-z][a-z\d+.-]{0,20}:\/\/./i;
const EMAIL = /^[^@]{1,64}@[^@.]{1,64}\.[^@]{1,200}$/;
const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;
const UUID_LENGTH = 36;
const UNIT_MAX = 3;

/** Returns the same text for messages that differ only in these values, at bounded cost. */
export function normalizedMessage(message: string): string {
  const parts = message.slice(0, READ_MAX).split(/\s+/);
  // Replaces addresses first, because they may contain quotes.
  const texts = withoutQuoted(parts.map(withoutAddress).join(' '));
  return withoutNumbers(texts).trim().slice(0, KEPT_MAX);
}

/** An opening quote has no word before it, and a closing quote no word after it; an apostrophe is neither. */
function withoutQuoted(text: string): string {
  let result = '';
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const quote = text[at] as string;
    if (!QUOTES.has(quote) || WORD.test(text[at - 1] ?? ' ')) continue;
    const end = endOfQuoted(text, at, CLOSING[quote] ?? quote);
    if (end === undefined) continue;
    result += `${text.slice(from, at)}<text>`;
    from = end + 1;
    at = end;
  }
  return result + text.slice(from);
}

function endOfQuoted(text: string, start: number, closing: string): number | undefined {
  for (let end = start + 1; end < text.length && end - start <= QUOTED_MAX; end++) {
    if (text[end] === closing && !WORD.test(text[end + 1] ?? ' ')) return end;
  }
  return undefined;
}

/** @param part text without white space */
function withoutAddress(part: string): string {
  const [, before = '', core = ''] = /^([([{<]{0,5})(.*)$/s.exec(part) ?? [];
  if (URL_START.test(core)) return `${before}<url>`;
  return EMAIL.test(core) ? `${before}<email>` : part;
}

function withoutNumbers(text: string): string {
  const words = text.replace(/[\da-zA-Z-]+/g, withoutUuid).replace(/[\p{L}\p{M}\d_]+/gu, normalizedWord);
  // Treats `3.14`, `-5`, `10:30` and `1,000` as numbers.
  return words.replace(/-?<n>(?:[.,:/-]<n>)*/g, '<n>');
}

/** `7f1b…`, `order-7f1b…` */
function withoutUuid(run: string): string {
  return UUID.test(run.slice(-UUID_LENGTH)) ? `${run.slice(0, -UUID_LENGTH)}<id>` : run;
}

function normalizedWord(word: string): string {
  if (!/\d/.test(word)) return word;
  const [, letters, , unit] = /^([^\d]*)(\d+)([^\d]*)$/.exec(word) ?? [];
  // Alternating digits and letters are an ID.
  if (letters === undefined || unit === undefined) return '<id>';
  // `order17`, `30s`
  if (letters === '' && unit.length <= UNIT_MAX) return `<n>${unit}`;
  return unit === '' ? `${letters}<n>` : '<id>';
}
