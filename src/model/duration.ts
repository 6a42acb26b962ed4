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

const WHOLE = /^(?:\d+(?:\.\d+)?(?:ns|us|ms|s|m|h|d|w)\s*)+$/;
const PART = /(\d+(?:\.\d+)?)(ns|us|ms|s|m|h|d|w)/g;

/** Milliseconds; undefined when the text is no time string. */
export function durationMs(text: string): number | undefined {
  if (!WHOLE.test(text)) return undefined;
  let sum = 0;
  for (const [, amount, unit] of text.matchAll(PART)) sum += Number(amount) * (UNIT_MS[unit as string] as number);
  return Math.round(sum);
}

/** The moment a time string, counted from now, or an ISO date names, in Unix milliseconds; undefined when it is neither.
 *  A time string may be negative: it is how the official Go SDK says until when a function sleeps, also when that is past. */
export function momentMs(text: string, nowMs: number): number | undefined {
  const given = text.trim();
  const duration = durationMs(given.replace(/^-/, ''));
  if (duration !== undefined) return given.startsWith('-') ? nowMs - duration : nowMs + duration;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : date;
}
