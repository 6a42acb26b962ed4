import { stringifyExact } from '../../../lib/exact-json.ts';
import type { EventToSend, SendTarget } from './target.ts';

/** Longer arguments may exceed the system's limit: the event is then a heredoc. */
const MAX_ARGUMENT_CHARS = 2_000;

/** For a POSIX shell; in production the key comes from `SERVICE_EVENT_KEY`. */
export function curlSnippet(event: EventToSend, { origin, env, dev }: SendTarget): string {
  const address = dev ? shellQuote(`${origin}/e/dev`) : `"${origin}/e/$SERVICE_EVENT_KEY"`;
  const headers = ['content-type: application/json', ...(env === undefined ? [] : [`x-service-env: ${env}`])];
  const lines = [`curl ${address}`, ...headers.map((header) => `  -H ${shellQuote(header)}`)];
  const text = stringifyExact(event);
  if (text.length <= MAX_ARGUMENT_CHARS) return [...lines, `  -d ${shellQuote(text)}`].join(' \\\n');
  // The delimiter cannot be a line of the JSON, whose strings have no line breaks.
  return `${[...lines, "  --data-binary @- <<'EVENT'"].join(' \\\n')}\n${stringifyExact(event, 2)}\nEVENT`;
}

function shellQuote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
