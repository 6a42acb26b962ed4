/** Flow control in a function's configuration, as SDKs spell it. */

import { isJsonObject } from '../values/json.ts';
import { durationMs } from '../values/time.ts';

export const FLOW_FIELDS = [
  'concurrency',
  'throttle',
  'rateLimit',
  'debounce',
  'batchEvents',
  'singleton',
  'order',
  'priority',
  'idempotency',
  'timeouts',
] as const;

const TIMES: readonly string[] = ['period', 'timeout', 'window', 'start', 'finish'];
/** The deepest field is concurrency.fn[0].limit. */
const DEPTH_MAX = 4;

/** The flow control fields as the app sent them. */
export function sentOptions(config: Record<string, unknown>): Record<string, unknown> {
  const sent = Object.fromEntries(FLOW_FIELDS.map((field) => [field, config[field]]));
  // The official Go SDK spells it with a capital.
  return { ...sent, singleton: config.singleton ?? config.Singleton };
}

/** Removes fields without a value: some SDKs send null, empty or zero values for absent options. */
export function withoutAbsent(sent: unknown, name = '', depth = 0): unknown {
  if (depth > DEPTH_MAX) return sent;
  if (Array.isArray(sent)) return sent.length === 0 ? undefined : sent.map((item) => present(item, name, depth) ?? {});
  return present(sent, name, depth);
}

function present(sent: unknown, name: string, depth: number): unknown {
  if (!isJsonObject(sent)) return hasValue(sent, name) ? sent : undefined;
  const fields = Object.entries(sent).flatMap(([field, value]) => {
    const kept = withoutAbsent(value, field, depth + 1);
    return kept === undefined ? [] : [[field, kept]];
  });
  return fields.length === 0 ? undefined : Object.fromEntries(fields);
}

function hasValue(value: unknown, name: string): boolean {
  if (typeof value === 'string') return value !== '' && !(TIMES.includes(name) && durationMs(value) === 0);
  return value !== undefined && value !== null && value !== 0 && value !== false;
}
