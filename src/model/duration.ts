/** Time strings of the protocol: `300ms`, `2h45m`, `1d`, `1w`. */
const UNIT_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

const WHOLE = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d|w)\s*)+$/;
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d|w)/g;

/** Milliseconds; undefined when the text is no time string. */
export function durationMs(text: string): number | undefined {
  if (!WHOLE.test(text)) return undefined;
  let sum = 0;
  for (const [, amount, unit] of text.matchAll(PART)) sum += Number(amount) * (UNIT_MS[unit as string] as number);
  return Math.round(sum);
}

/** The moment a time string, counted from now, or an ISO date names, in Unix milliseconds; undefined when it is neither. */
export function momentMs(text: string, nowMs: number): number | undefined {
  const duration = durationMs(text.trim());
  if (duration !== undefined) return nowMs + duration;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : date;
}
