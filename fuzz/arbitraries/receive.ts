/** Requests to `/e/`: events of every shape and webhook requests of every content type. */
import fc from 'fast-check';
import type { Case, Piece } from '../case.ts';
import { anyBody, contentType, JSON_TYPES, jsonBody } from './bodies.ts';
import { number, value, word } from './hostile.ts';
import { providerRequests } from './provider-requests.ts';
import { type Header, headers, queryOf, queryValue, urlText, withBody } from './requests.ts';
import { transformResult } from './transform-results.ts';

const HOOKS = ['json', 'everything', 'given', 'throwing', 'branches', 'attacked'].map((kind) => `{{hook:${kind}}}`);

/** Some of them trigger functions. */
const name = fc.oneof(fc.constantFrom('fuzz/a', 'fuzz/cancel', 'order/paid', 'inngest/function.failed', 'x'), word);

export const event: fc.Arbitrary<unknown> = fc.record(
  {
    name,
    data: fc.oneof(fc.dictionary(word, value, { maxKeys: 4 }), fc.constant({ total: 11, name: 'ab', id: 1 }), value),
    id: fc.oneof(word, fc.constantFrom('one', 'two')),
    ts: fc.oneof(number, fc.constantFrom(1_700_000_000_000, 4_000_000_000_000)),
    user: fc.oneof(fc.dictionary(word, value, { maxKeys: 3 }), value),
    v: word,
  },
  { requiredKeys: ['name', 'data'] },
);

const pairs = fc.array(
  fc.tuple(
    fc.oneof(
      fc.constantFrom('x-service-env', 'x-inngest-env', 'a'),
      word.map((one) => one.toWellFormed()),
    ),
    queryValue,
  ),
  { maxLength: 3 },
);

const eventRequests: fc.Arbitrary<Case> = fc
  .record({
    key: fc.oneof(
      { weight: 8, arbitrary: fc.constant('{{event-key}}') },
      { weight: 2, arbitrary: fc.constant('{{attacked-key}}') },
      { weight: 1, arbitrary: urlText },
    ),
    query: queryOf(pairs),
    headers: headers(fc.constant<Header[]>([])),
    pieces: fc.oneof(
      { weight: 3, arbitrary: jsonBody(event) },
      { weight: 2, arbitrary: jsonBody(fc.array(event, { maxLength: 4 })) },
      { weight: 1, arbitrary: manyEvents() },
    ),
    type: fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...JSON_TYPES) }, { weight: 1, arbitrary: contentType }),
  })
  .map(({ key, query, headers, pieces, type }) =>
    withBody({ area: 'POST /e/ events', method: 'POST', target: `/e/${key}${query}`, headers }, pieces, type),
  );

function manyEvents(): fc.Arbitrary<Piece[]> {
  return fc.tuple(event, fc.constantFrom(10, 400, 501)).map(([one, times]): Piece[] => {
    const text = JSON.stringify(one);
    return ['[', { repeat: `${text},`, times: Math.min(times, Math.floor(500_000 / text.length)) }, text, ']'];
  });
}

const webhookRequests: fc.Arbitrary<Case> = fc
  .record({
    key: fc.constantFrom(...HOOKS),
    method: fc.oneof(
      { weight: 9, arbitrary: fc.constant('POST') },
      { weight: 1, arbitrary: fc.constantFrom('GET', 'PUT', 'DELETE') },
    ),
    query: queryOf(pairs),
    headers: headers(
      fc.oneof(
        fc.constant<Header[]>([]),
        word.map((kind): Header[] => [['x-kind', kind]]),
      ),
    ),
    body: fc.oneof(
      { weight: 3, arbitrary: anyBody },
      { weight: 1, arbitrary: jsonBody(event).map((pieces) => ({ pieces, contentType: 'application/json' })) },
      // The transform of one webhook returns its body.
      {
        weight: 1,
        arbitrary: jsonBody(transformResult(event)).map((pieces) => ({ pieces, contentType: 'application/json' })),
      },
    ),
  })
  .map(({ key, method, query, headers, body }) =>
    withBody({ area: '/e/ webhook', method, target: `/e/${key}${query}`, headers }, body.pieces, body.contentType),
  );

export const receiveCases: fc.Arbitrary<Case> = fc.oneof(
  { weight: 3, arbitrary: eventRequests },
  { weight: 3, arbitrary: webhookRequests },
  { weight: 4, arbitrary: providerRequests },
);
