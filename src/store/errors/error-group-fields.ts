/** Converts error groups from their fields in Redis. */

import type { ErrorGroup, ErrorGroupState } from '../../model/errors/error-group.ts';
import { HOUR_MS } from '../../model/values/time.ts';

const HOUR_FIELD = /^h(\d{1,12})$/;

/** @returns undefined if there is no such group */
export function errorGroupOf(fingerprint: string, fields: Record<string, string>): ErrorGroup | undefined {
  const { functionId, step, name, message, state, samples, stateChangedBy, alertChannels } = fields;
  if (functionId === undefined || state === undefined || samples === undefined) return undefined;
  const failed = JSON.parse(samples) as [runId: string, at: number][];
  return {
    fingerprint,
    functionId,
    step,
    name: name ?? '',
    message: message ?? '',
    state: state as ErrorGroupState,
    firstSeen: Number(fields.firstSeen),
    lastSeen: Number(fields.lastSeen),
    count: Number(fields.count),
    withUser: Number(fields.withUser ?? 0),
    hours: hoursOf(fields),
    samples: failed.map(([runId, at]) => ({ runId, at })),
    openedAt: Number(fields.openedAt),
    reopened: Number(fields.reopened ?? 0),
    stateChangedAt: Number(fields.stateChangedAt),
    stateChangedBy:
      stateChangedBy === undefined ? undefined : (JSON.parse(stateChangedBy) as ErrorGroup['stateChangedBy']),
    alertChannels: alertChannels === undefined ? undefined : (JSON.parse(alertChannels) as string[]),
  };
}

function hoursOf(fields: Record<string, string>): Map<number, number> {
  const hours = new Map<number, number>();
  for (const [field, count] of Object.entries(fields)) {
    const hour = HOUR_FIELD.exec(field)?.[1];
    if (hour !== undefined) hours.set(Number(hour) * HOUR_MS, Number(count));
  }
  return hours;
}
