/** Checks the age of requests. */

import { iso, shownSpan } from '../../model/values/time.ts';
import type { Preset } from '../preset.ts';
import type { ProviderRequest } from '../provider-request.ts';
import { nameOf, valuesOf } from './fields.ts';
import { type Failure, failed, type VerifyOptions } from './verification.ts';

type HmacScheme = Extract<NonNullable<Preset['verification']>, { scheme: 'hmac' }>;
/** The last date that JavaScript has. */
const LAST_DATE_MS = 8.64e15;

export type TimestampRule = NonNullable<HmacScheme['timestamp']>;

/** The original timestamp; undefined if the scheme has none. */
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
  const age = receivedAtMs - at;
  const allowedMs = rule.tolerance * 1_000;
  if (age > allowedMs) return failed('timestamp_too_old', problem(at, `${shownSpan(age)} before it came`, rule));
  if (-age > allowedMs) return failed('timestamp_in_future', problem(at, `${shownSpan(-age)} after it came`, rule));
  return { text };
}

function problem(at: number, distance: string, { at: place, tolerance }: TimestampRule): string {
  const time = Math.abs(at) <= LAST_DATE_MS ? iso(at) : 'beyond all dates';
  const moment = `the timestamp in ${nameOf(place)} is ${time}, ${distance}`;
  return `${moment}; ${shownSpan(tolerance * 1_000)} are allowed. Check the clock of this machine`;
}

function millisecondsOf(text: string, unit: TimestampRule['unit']): number | undefined {
  if (unit === 'iso') {
    const at = text.length > 40 ? Number.NaN : Date.parse(text);
    return Number.isNaN(at) ? undefined : at;
  }
  if (!/^\d{1,16}$/.test(text)) return undefined;
  return Number(text) * (unit === 's' ? 1_000 : 1);
}
