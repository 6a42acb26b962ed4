/** What is worth knowing of a transform that works: none of it keeps the event out, unless it says so. */
import { ExactNumber, parseExact } from '../../../api/json.ts';
import type { TransformResult, Webhook } from '../../../api/types.ts';
import type { Tone } from '../../../ui/status.tsx';
import type { Sample } from './sample.ts';

export interface Warning {
  tone: Extract<Tone, 'warn' | 'neutral'>;
  text: string;
}

/** A transform is stopped after a second. */
const SLOW_MS = 200;
/** What JavaScript writes into a text for a value that is not there. */
const UNKNOWN = /(?:^|[^a-z])(?:undefined|null|NaN|\[object Object\])(?:$|[^a-z])/i;
const MASK = '[masked]';

export function warningsOf({ event, duration_ms }: TransformResult, webhook: Webhook, sample: Sample): Warning[] {
  const warnings: Warning[] = [];
  const warn = (text: string) => warnings.push({ tone: 'warn', text });
  const note = (text: string) => warnings.push({ tone: 'neutral', text });
  if (duration_ms > SLOW_MS) warn(`It took ${Math.round(duration_ms)} ms; after a second it would be stopped.`);
  if (event) {
    if (!takes(webhook, event.name))
      warn(`The webhook’s list of event names does not take ${event.name}: the event would be filtered out.`);
    if (Object.keys(event.data).length === 0) warn('The data is empty: functions learn nothing but the name.');
    for (const field of ['name', 'id'] as const) {
      if (UNKNOWN.test(event[field] ?? ''))
        warn(`The ${field} says ${event[field]}: what it is made of is not in this request.`);
    }
    if (event.id === undefined) note('Without an id, a request that the provider repeats becomes a second event.');
    if (!event.name.includes('/')) note('Names usually begin with their source and a slash, such as github/push.');
  }
  if (holdsBigInteger(sample.body)) {
    warn('The body has whole numbers beyond 2⁵³, which JavaScript rounds. Pass raw on where every digit counts.');
  }
  if (Object.values(sample.headers).includes(MASK) || sample.query.includes(encodeURIComponent(MASK))) {
    note('Secrets of real requests are masked here. The webhook’s transform gets them as they came.');
  }
  return warnings;
}

/** As src/model/auth/allow-lists.ts has it: a "*" at the end stands for anything. */
function takes({ event_names }: Webhook, name: string): boolean {
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
