/** Time strings of the protocol: `300ms`, `2h45m`, `1d`, `1w`; as the official Go SDK writes them: `4m59s999ms987us6ns`. */
const UNIT_MS: Record<string, number> = {
  ns: 1e-6,
  us: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Longest sleep, and longest time-out of a wait or an invocation: five years. Longer ones are mistakes, or meant to fill the store; BullMQ
 *  orders jobs exactly that are due before 2039. */
export const MAX_WAIT_MS = 1_827 * 86_400_000;
/** Longest text that can name such a time, and a cap on what the patterns below have to read. */
export const MAX_TIME_LENGTH = 100;

const WHOLE = /^(?:\d+(?:\.\d+)?(?:ns|us|ms|s|m|h|d|w)\s*)+$/;
const PART = /(\d+(?:\.\d+)?)(ns|us|ms|s|m|h|d|w)/g;

/** Milliseconds; undefined when the text is no time string. */
export function durationMs(text: string): number | undefined {
  if (text.length > MAX_TIME_LENGTH || !WHOLE.test(text)) return undefined;
  let sum = 0;
  for (const [, amount, unit] of text.matchAll(PART)) sum += Number(amount) * (UNIT_MS[unit as string] as number);
  return Math.min(Math.round(sum), Number.MAX_SAFE_INTEGER);
}

/** The moment a time string, counted from now, or an ISO date names, in Unix milliseconds; undefined when it is neither.
 *  A time string may be negative: it is how the official Go SDK says until when a function sleeps, also when that is past. */
export function momentMs(text: string, nowMs: number): number | undefined {
  if (text.length > MAX_TIME_LENGTH) return undefined;
  const given = text.trim();
  const duration = durationMs(given.replace(/^-/, ''));
  if (duration !== undefined) return given.startsWith('-') ? Math.max(0, nowMs - duration) : nowMs + duration;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : date;
}
