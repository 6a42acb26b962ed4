/** Origins of apps: scheme, host and port. An SDK may take its app's origin from the `Host` of an anonymous request, so
 *  a new one counts only where a person has allowed it (docs/security.md#addresses-of-apps). */
import { z } from 'zod';

/** Maximum number of patterns per app, and in the setting APP_ORIGINS. */
export const ORIGINS_MAX = 50;
export const ORIGIN_LENGTH_MAX = 300;
/** Number of labels at the end of a pattern's host that must be literal: an owned domain has at least this many. */
const LITERAL_LABELS = 2;
const LABEL = /^(?!-)[a-z0-9_-]*(?:\*[a-z0-9_-]*)?(?<!-)$/;
const PARTS = /^(https?):\/\/([^/:?#@[\]]+)(?::(\d{1,5}))?$/;
const WILDCARD = /^[a-z0-9_-]*$/;

const EXPECTED =
  'an origin such as https://shop.example.com, or a pattern such as https://shop-*-acme.example.app: scheme, host and port without a path; ' +
  `one "*" in a label, for a part of it, and none in the last ${LITERAL_LABELS} labels`;

/** An origin such as `https://shop.example.com`, or a pattern such as `https://shop-*-acme.example.app`. */
export const originPatternSchema = z.string().transform((text, context) => {
  const pattern =
    text.length > ORIGIN_LENGTH_MAX ? undefined : normalized(text.trim().toLowerCase().replace(/\/$/, ''));
  if (pattern !== undefined) return pattern;
  context.addIssue({ code: 'custom', message: EXPECTED, input: text });
  return z.NEVER;
});

export const originPatternsSchema = z
  .array(originPatternSchema)
  .max(ORIGINS_MAX)
  .transform((patterns) => [...new Set(patterns)]);

/** @returns undefined if it is neither an origin nor a pattern */
function normalized(text: string): string | undefined {
  if (text.includes('*')) return normalizedPattern(text);
  const url = URL.parse(text);
  return url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/` ? url.origin : undefined;
}

function normalizedPattern(text: string): string | undefined {
  const [, scheme, host = '', port = ''] = PARTS.exec(text) ?? [];
  const labels = host.split('.');
  const isHost = labels.every((label) => label !== '' && label.length < 64 && LABEL.test(label));
  if (scheme === undefined || !isHost || labels.length <= LITERAL_LABELS) return undefined;
  if (labels.slice(-LITERAL_LABELS).join().includes('*')) return undefined;
  // URL drops the scheme's default port, and rejects invalid ports and hosts.
  const literal = URL.parse(`${scheme}://${host.replaceAll('*', 'x')}${port && `:${port}`}`);
  return literal ? `${scheme}://${host}${literal.port && `:${literal.port}`}` : undefined;
}

/** @param origin as in `URL` */
export function isAllowedOrigin(origin: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => pattern === origin || (pattern.includes('*') && matches(origin, pattern)));
}

/** Compares label by label, so `*` never reaches into another domain. */
function matches(origin: string, pattern: string): boolean {
  const [given, wanted] = [origin.split('.'), pattern.split('.')];
  return given.length === wanted.length && wanted.every((label, at) => matchesLabel(given[at] ?? '', label));
}

/** The first label includes the scheme, and the last one the port. */
function matchesLabel(given: string, wanted: string): boolean {
  const [start = '', end] = wanted.split('*');
  if (end === undefined) return given === wanted;
  if (given.length < start.length + end.length || !given.startsWith(start) || !given.endsWith(end)) return false;
  return WILDCARD.test(given.slice(start.length, given.length - end.length));
}

/** Proposes a pattern for both origins, if each deployment seems to have its own host: one label differs, in a part followed by literal
 *  text, as in `https://shop-1a2b-acme.example.app`. Hosts with only a common beginning may belong to anybody on a shared domain, so they
 *  get no proposal.
 *  @returns undefined if there is no pattern */
export function proposedPattern(known: string, origin: string): string | undefined {
  const [before, after] = [known.split('.'), origin.split('.')];
  const differing = before.flatMap((label, at) => (label === after[at] ? [] : [at]));
  const [at] = differing;
  if (before.length !== after.length || at === undefined || differing.length > 1) return undefined;
  const label = commonLabel((before[at] ?? '').split('-'), (after[at] ?? '').split('-'));
  return label === undefined ? undefined : normalized(after.with(at, label).join('.'));
}

function commonLabel(a: readonly string[], b: readonly string[]): string | undefined {
  const least = Math.min(a.length, b.length);
  let start = 0;
  while (start < least - 1 && a[start] === b[start]) start++;
  let end = 0;
  while (end < least - start - 1 && a.at(-1 - end) === b.at(-1 - end)) end++;
  return start === 0 || end === 0 ? undefined : [...b.slice(0, start), '*', ...b.slice(-end)].join('-');
}
