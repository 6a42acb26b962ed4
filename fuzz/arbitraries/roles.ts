/** Requests of the API by callers with roles in environments, for objects of all environments. */
import fc from 'fast-check';
import { type Caller, caller, credentialsOf, ENVIRONMENTS, OWNERS_OF_KEYS } from '../callers.ts';
import type { Case, HttpCase } from '../case.ts';
import type { OpenApiDocument } from '../targets.ts';
import { apiCases } from './api.ts';

const SELECTORS = ['x-service-env', 'x-inngest-env'] as const;
/** Their bodies name the owner of what they create. */
const CREATING = new Set(['POST /v1/webhooks', 'POST /v1/event-keys']);

/** Whole lists, which generated queries seldom get: what belongs to others must not be among the rest. */
const lists = fc
  .constantFrom(
    '/v1/webhooks?limit=100',
    '/v1/webhooks/stats?limit=100',
    '/v1/event-keys?limit=100',
    '/v1/events?limit=100',
    '/v1/search?text=roles/seen',
  )
  .map((target): HttpCase => ({ kind: 'http', area: 'lists', method: 'GET', target, headers: [] }));

interface Aim {
  caller: Caller;
  /** Of webhooks and event keys. */
  owner: (typeof OWNERS_OF_KEYS)[number];
  environment: string;
  selected: { by: (typeof SELECTORS)[number] | 'query'; name: string } | undefined;
}

const aim: fc.Arbitrary<Aim> = fc.record({
  caller,
  owner: fc.constantFrom(...OWNERS_OF_KEYS),
  environment: fc.constantFrom(...ENVIRONMENTS.map(({ name }) => name)),
  selected: fc.option(
    fc.record({
      by: fc.constantFrom(...SELECTORS, 'query' as const),
      name: fc.constantFrom(...ENVIRONMENTS.map(({ name }) => name)),
    }),
    { nil: undefined, freq: 4 },
  ),
});

export function roleCases(document: OpenApiDocument): fc.Arbitrary<Case> {
  return fc
    .tuple(fc.oneof({ weight: 6, arbitrary: apiCases(document) }, { weight: 1, arbitrary: lists }), aim)
    .map(([one, given]) => (one.kind === 'http' ? aimed(one, given) : one));
}

function aimed(one: HttpCase, { caller: by, owner, environment, selected }: Aim): HttpCase {
  const typed = one.headers.filter(([name]) => name === 'content-type');
  const selecting: HttpCase['headers'] = selected && selected.by !== 'query' ? [[selected.by, selected.name]] : [];
  const target = one.target
    .replaceAll(/\{\{webhook(?:-signed)?\}\}/g, `{{webhook-of:${owner}}}`)
    .replaceAll('{{event-key-id}}', `{{event-key-of:${owner}}}`)
    // Whoever may delete and archive environments would take the others' roles away; a key of production that is rotated is the app's.
    .replaceAll('{{environment}}', one.method === 'GET' ? environment : '{{environment}}');
  const joined = target.includes('?') ? '&' : '?';
  const body = CREATING.has(one.area) ? [JSON.stringify({ name: 'made', environment: owner })] : one.body;
  return {
    ...one,
    target: selected?.by === 'query' ? `${target}${joined}x-service-env=${selected.name}` : target,
    headers: [...typed, ...selecting, ...credentialsOf(by)],
    ...(body && { body }),
    caller: by,
  };
}
