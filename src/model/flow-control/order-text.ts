/** Values of `order.by` as texts that sort as the values do. A value is a number, a time (ISO 8601), or a version; an integer of any length
 *  in a text is a version of one part. Times become Unix seconds, so they compare with numbers that are Unix seconds. */

/** Longer values cannot be read. */
const LENGTH_MAX = 100;
const INTEGER = /^-?\d+$/;
const TIME = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(?:[.,](\d+))?\s?(Z|[+-]\d\d:?\d\d)?)?$/i;
/** A version as in Semantic Versioning, but with any number of parts. */
const VERSION = /^v?(\d+(?:\.\d+)*)(?:-([0-9a-z-]+(?:\.[0-9a-z-]+)*))?(?:\+[0-9a-z.-]+)?$/i;

/** Characters that end or continue the parts of a value. Their order sorts values: a pre-release comes before its version, a version
 *  before the same version with more parts. */
const PRE_RELEASE = '!';
const END = '#';
const FRACTION = '$';
const NEXT_PART = '.';
const NEXT_IDENTIFIER = '"';
const NEGATIVE = '-';

/** @returns undefined if the value cannot be read */
export function orderTextOf(value: unknown): string | undefined {
  if (typeof value === 'bigint') return integerText(String(value));
  if (typeof value === 'number') return Number.isFinite(value) ? numberText(value) : undefined;
  if (value instanceof Date) return secondsText(value.getTime(), '');
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  if (text.length > LENGTH_MAX) return undefined;
  if (INTEGER.test(text)) return integerText(text);
  return TIME.test(text) ? timeText(text) : versionText(text);
}

function integerText(text: string): string {
  return text.startsWith('-') ? decimalText(true, text.slice(1), '') : decimalText(false, text, '');
}

function numberText(value: number): string {
  if (Number.isInteger(value)) return integerText(String(BigInt(value)));
  // 20 decimal places suffice for 17 digits of numbers from 0.001 on; smaller numbers lose digits, not their order.
  const [whole = '', fraction = ''] = Math.abs(value).toFixed(20).split('.');
  return decimalText(value < 0, whole, fraction);
}

function timeText(text: string): string | undefined {
  const [, date, time = '00:00', fraction = '', zone = 'Z'] = TIME.exec(text) ?? [];
  if (date === undefined) return undefined;
  const offset = zone.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone.toUpperCase();
  return secondsText(Date.parse(`${date}T${time}${offset}`), fraction);
}

/** @param fraction further digits of the second */
function secondsText(ms: number, fraction: string): string | undefined {
  if (Number.isNaN(ms)) return undefined;
  if (fraction === '') return numberText(ms / 1_000);
  const seconds = BigInt(ms) / 1_000n;
  if (seconds >= 0n) return decimalText(false, String(seconds), fraction);
  return numberText(Number(seconds) + Number(`0.${fraction}`));
}

function versionText(text: string): string | undefined {
  const [, release, preRelease] = VERSION.exec(text) ?? [];
  if (release === undefined) return undefined;
  const parts = release.split('.').map(counted).join(NEXT_PART);
  if (preRelease === undefined) return parts + END;
  // Numeric identifiers come before others.
  const identifiers = preRelease
    .split('.')
    .map((identifier) => (/^\d+$/.test(identifier) ? `0${counted(identifier)}` : `1${identifier}`));
  return parts + PRE_RELEASE + identifiers.join(NEXT_IDENTIFIER) + PRE_RELEASE;
}

function decimalText(isNegative: boolean, whole: string, fraction: string): string {
  // A regular expression for zeros at the end takes quadratic time.
  let end = fraction.length;
  while (fraction[end - 1] === '0') end--;
  const digits = fraction.slice(0, end);
  const text = counted(whole) + (digits && FRACTION + digits);
  if (!isNegative || !/[1-9]/.test(whole + digits)) return text + END;
  // Of negative numbers, the one with more digits or greater digits is smaller.
  return `${NEGATIVE}${text.replace(/\d/g, (digit) => String(9 - Number(digit)))}~`;
}

/** The digits of a natural number after their count, so that the texts sort as the numbers do. */
function counted(digits: string): string {
  const significant = digits.replace(/^0+(?=\d)/, '');
  return String(significant.length).padStart(3, '0') + significant;
}
