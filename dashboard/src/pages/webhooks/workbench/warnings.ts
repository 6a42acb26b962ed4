/** Warnings about a transform that works. */

import type { TransformResult, Webhook } from '../../../api/types.ts';
import { ExactNumber, parseExact } from '../../../lib/exact-json.ts';
import type { Tone } from '../../../ui/status-badge.tsx';
import type { Sample } from './sample.ts';

export interface Warning {
  tone: Extract<Tone, 'warn' | 'neutral'>;
  text: string;
}

/** Transforms time out after 1 second. */
const SLOW_MS = 200;
/** How JavaScript prints missing values in strings. */
const UNKNOWN = /(?:^|[^a-z])(?:undefined|null|NaN|\[object Object\])(?:$|[^a-z])/i;
const MASK = '[masked]';

export function warningsOf(
  { event, events, response, duration_ms }: TransformResult,
  webhook: Webhook,
  sample: Sample,
): Warning[] {
  const warnings: Warning[] = [];
  const warn = (text: string) => warnings.push({ tone: 'warn', text });
  const note = (text: string) => warnings.push({ tone: 'neutral', text });
  const made = events.length > 0 ? events : event ? [event] : [];
  if (duration_ms > SLOW_MS) warn(`The transform took ${Math.round(duration_ms)} ms. It times out after 1 s.`);
  for (const event of made) {
    if (!allows(webhook, event.name))
      warn(`The webhook’s event name list excludes ${event.name}: the event would be filtered out.`);
    if (Object.keys(event.data).length === 0) warn('The event’s data is empty.');
    for (const field of ['name', 'id'] as const) {
      if (UNKNOWN.test(event[field] ?? ''))
        warn(`The ${field} is ${event[field]}: a value it uses is missing in this request.`);
    }
    if (event.id === undefined && !webhook.deduplicate)
      note('Without an id, a repeated request creates a second event.');
    if (!event.name.includes('/')) note('Event names usually start with a source and a slash, such as github/push.');
  }
  if (response && response.status >= 400 && made.length > 0)
    warn(`The provider gets status ${response.status}, but the events are accepted: a retry sends them again.`);
  if (holdsBigInteger(sample.body)) {
    warn('The body has integers beyond 2⁵³, which JavaScript rounds. Pass on raw to keep every digit.');
  }
  if (Object.values(sample.headers).includes(MASK) || sample.query.includes(encodeURIComponent(MASK))) {
    note('Secrets of logged requests are masked here. The webhook’s transform receives the original values.');
  }
  return distinct(warnings);
}

/** Several events have the same faults. */
function distinct(warnings: readonly Warning[]): Warning[] {
  return [...new Map(warnings.map((warning) => [warning.text, warning])).values()];
}

/** Same rule as src/model/auth/allow-lists.ts: a trailing "*" matches anything. */
function allows({ event_names }: Webhook, name: string): boolean {
  if (!event_names) return true;
  const listed = event_names.items.some((item) =>
    item.endsWith('*') ? name.startsWith(item.slice(0, -1)) : item === name,
  );
  return listed === (event_names.mode === 'allow');
}

function holdsBigInteger(body: string): boolean {
  if (!/\d{16}/.test(body)) return false;
  try {
    return someNumber(parseExact(body));
  } catch {
    return false;
  }
}

function someNumber(value: unknown): boolean {
  if (value instanceof ExactNumber) return /^-?\d+$/.test(value.source);
  return typeof value === 'object' && value !== null && Object.values(value).some(someNumber);
}
