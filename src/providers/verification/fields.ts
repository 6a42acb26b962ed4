/** Reads signatures and timestamps of requests. */
import type { Field, Location } from '../preset.ts';
import type { ProviderRequest } from '../provider-request.ts';

/** Maximum number of signatures tried per request: a provider that rotates its secret sends two. */
const MAX_VALUES = 5;

/** Values of a field; empty if there are none. */
export function valuesOf(request: ProviderRequest, { at, separator, prefix }: Field): string[] {
  const text = request.valueAt(at);
  if (text === undefined) return [];
  const items = separator === undefined ? [text] : text.split(separator, 50).map((item) => item.trim());
  if (prefix === undefined) return items.slice(0, MAX_VALUES);
  const wanted = items.filter((item) => item.startsWith(prefix));
  return wanted.slice(0, MAX_VALUES).map((item) => item.slice(prefix.length));
}

/** Describes a location in messages: "the header x-signature", "the field a.b of the body". */
export function nameOf(location: Location): string {
  const colon = location.indexOf(':');
  const name = location.slice(colon + 1);
  switch (location.slice(0, colon)) {
    case 'header':
      return `the header ${name}`;
    case 'query':
      return `the query parameter ${name}`;
    case 'form':
      return `the form field ${name}`;
    default:
      return `the field ${name} of the body`;
  }
}
