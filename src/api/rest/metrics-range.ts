/** The time range of metrics. */
import { ServiceError } from '../../errors.ts';
import { HOUR_MS } from '../../model/values/time.ts';
import { timeSchema } from '../http/validation.ts';

/** Query parameters.
 *  @param defaultMs length of the range without `from`: an hour or a day */
export function timeRange(defaultMs: number) {
  const length = defaultMs === HOUR_MS ? 'an hour' : 'a day';
  return {
    from: timeSchema.optional().describe(`Inclusive; at most 7 days ago. Default: ${length} before \`to\``),
    to: timeSchema.optional().describe('Exclusive. Default: now'),
  };
}

/** A measured duration as responses have it. */
export function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}

/** Clamps the requested time range to what is stored.
 *  @throws ServiceError input_invalid when it ends before it begins */
export function timeRangeOf(
  { from, to }: { from?: number | undefined; to?: number | undefined },
  defaultMs: number,
  keptMs: number,
  nowMs: number,
): { from: number; to: number } {
  const end = Math.min(to ?? nowMs, nowMs);
  const start = from ?? end - defaultMs;
  if (start >= end) {
    throw new ServiceError('input_invalid', {
      detail: 'query parameter "from": expected a time before "to" and before now',
      facts: { field: 'from' },
    });
  }
  const oldest = nowMs - keptMs;
  return { from: Math.max(start, oldest), to: Math.max(end, oldest) };
}
