/** Checks the age of requests. */
import type { Preset } from '../preset.ts';
import type { ProviderRequest } from '../provider-request.ts';
import { nameOf, valuesOf } from './fields.ts';
import { type Failure, failed, type VerifyOptions } from './verification.ts';

type HmacScheme = Extract<NonNullable<Preset['verification']>, { scheme: 'hmac' }>;
export type TimestampRule = NonNullable<HmacScheme['timestamp']>;

/** The timestamp as it came; undefined: the scheme has none. */
export function checkTimestamp(
  request: ProviderRequest,
  rule: TimestampRule | undefined,
  { nowMs, receivedAtMs = nowMs }: VerifyOptions,
): { text: string | undefined } | Failure {
  if (!rule) return { text: undefined };
  const [text] = valuesOf(request, rule);
  if (text === undefined) return failed('timestamp_missing', `${nameOf(rule.at)} has no timestamp`);
  const at = millisecondsOf(text, rule.unit);
  if (at === undefined) return failed('timestamp_malformed', `the timestamp in ${nameOf(rule.at)} is not a time`);
  const seconds = Math.round((receivedAtMs - at) / 1_000);
  if (seconds > rule.tolerance) {
    return failed(
      'timestamp_too_old',
      `the request was ${seconds} s old when it came; ${rule.tolerance} s are allowed. Check the clock of this machine`,
    );
  }
  if (-seconds > rule.tolerance) {
    return failed(
      'timestamp_in_future',
      `the request came ${-seconds} s before its time; ${rule.tolerance} s are allowed. Check the clock of this machine`,
    );
  }
  return { text };
}

function millisecondsOf(text: string, unit: TimestampRule['unit']): number | undefined {
  if (unit === 'iso') {
    const at = text.length > 40 ? Number.NaN : Date.parse(text);
    return Number.isNaN(at) ? undefined : at;
  }
  if (!/^\d{1,16}$/.test(text)) return undefined;
  return Number(text) * (unit === 's' ? 1_000 : 1);
}
