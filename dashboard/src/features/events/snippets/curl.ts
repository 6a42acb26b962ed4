import { stringifyExact } from '../../../lib/exact-json.ts';
import type { EventToSend, Place } from './target.ts';

/** Longer than this, an argument may be more than the system takes; then the event is read from below. */
const LONG = 2_000;

/** For a POSIX shell; in production the key comes from `SERVICE_EVENT_KEY`. */
export function curlOf(event: EventToSend, { origin, env, dev }: Place): string {
  const address = dev ? quoted(`${origin}/e/dev`) : `"${origin}/e/$SERVICE_EVENT_KEY"`;
  const headers = ['content-type: application/json', ...(env === undefined ? [] : [`x-service-env: ${env}`])];
  const lines = [`curl ${address}`, ...headers.map((header) => `  -H ${quoted(header)}`)];
  const text = stringifyExact(event);
  if (text.length <= LONG) return [...lines, `  -d ${quoted(text)}`].join(' \\\n');
  // No line of JSON is this word: the text has no line breaks of its own.
  return `${[...lines, "  --data-binary @- <<'EVENT'"].join(' \\\n')}\n${stringifyExact(event, 2)}\nEVENT`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
