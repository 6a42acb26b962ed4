/** Input of destinations: mostly valid, so that they are created, changed and called. */
import fc from 'fast-check';
import type { Case } from '../case.ts';
import { SECRET_MARK } from '../providers.ts';
import { flow } from './flow.ts';
import { number, value, word } from './hostile.ts';
import { headers, principal, withBody } from './requests.ts';
import { search } from './searches.ts';

/** Mostly one of the first, sometimes anything. */
const mostly = (right: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 30, arbitrary: right }, { weight: 1, arbitrary: value });

const headerName = fc.oneof(
  fc.constantFrom('x-a', 'Authorization', '*', 'x-*', 'a*b', 'host', 'content-length', 'webhook-id', '__proto__', ''),
  word,
);
/** Each is one that no response may show. */
const headerValue = fc.constantFrom(
  SECRET_MARK,
  `${SECRET_MARK}\r\nx: y`,
  `${SECRET_MARK}\ud800`,
  SECRET_MARK.repeat(500),
);

const fields: Record<string, fc.Arbitrary<unknown>> = {
  url: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('{{app-url}}', '{{app-url}}?a=%00', 'http://127.0.0.1:1/') },
    {
      weight: 1,
      arbitrary: fc.constantFrom('file:///etc/passwd', 'http://[::1', `http://user:${SECRET_MARK}@a/`, '//a'),
    },
    { weight: 1, arbitrary: word },
  ),
  events: fc.oneof(
    fc.constantFrom(['fuzz/*'], ['fuzz/answer', 'order.*'], ['tidegate/*'], ['*'], [], null),
    fc.array(word, { maxLength: 25 }),
  ),
  webhook: fc.oneof(fc.constantFrom('{{webhook}}', null), word),
  filter: fc.oneof(
    search.map((text) => text.replaceAll('data', 'event.data')),
    fc.constant(null),
  ),
  body: fc.constantFrom('event', 'data', 'request', 'all'),
  headers: fc.dictionary(headerName, headerValue, { maxKeys: 25 }),
  forward_headers: fc.array(headerName, { maxLength: 25 }),
  timeout_seconds: fc.oneof(fc.constantFrom(1, 300, 0, 301, null), number),
  retries: fc.oneof(fc.constantFrom(0, 1, 21, null), number),
  flow,
};

const given = (requiredKeys: string[]) =>
  fc.record(Object.fromEntries(Object.entries(fields).map(([name, one]) => [name, mostly(one)])), { requiredKeys });

const path = '/v1/destinations/{{destination}}';
const requests = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .record({ name: fc.oneof(fc.constantFrom('a', 'b', 'a/b', '__proto__'), word), given: given(['url']) })
      .map(({ name, given }) => ({ method: 'POST', path: '/v1/destinations', body: { name, ...given } })),
  },
  { weight: 5, arbitrary: given([]).map((body) => ({ method: 'PATCH', path, body })) },
  {
    weight: 2,
    arbitrary: fc
      .record({ data: mostly(fc.dictionary(word, value, { maxKeys: 3 })) })
      .map((body) => ({ method: 'POST', path: `${path}/test`, body })),
  },
  {
    weight: 1,
    arbitrary: mostly(fc.constantFrom(0, 60, 2_592_000, 2_592_001)).map((keep_old_seconds) => ({
      ...{ method: 'POST', path: `${path}/rotate-secret` },
      body: { keep_old_seconds },
    })),
  },
);

export const destinationInputs: fc.Arbitrary<Case> = fc
  .record({ request: requests, headers: headers(principal) })
  .map(({ request: { method, path, body }, headers }): Case => {
    const about = { area: `${method} destination input`, method, target: path, headers };
    return withBody(about, [JSON.stringify(body)], 'application/json');
  });
