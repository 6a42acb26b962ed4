/** Common parts of requests: queries, headers and credentials. */
import fc from 'fast-check';
import type { HttpCase, Piece } from '../case.ts';
import { number, word } from './hostile.ts';

export type Header = [name: string, value: string];

export const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'] as const;

/** Text in a path or query: mostly URL-encoded, sometimes raw. Characters that would end the request line are always encoded. */
export const urlText: fc.Arbitrary<string> = fc.tuple(word, fc.boolean()).map(([text, raw]) => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be in a request line
  const breaking = /[\u0000-\u0020\u007f-\uffff#?]/g;
  const proper = encodeURIComponent(text.toWellFormed());
  return raw ? text.toWellFormed().replace(breaking, (one) => encodeURIComponent(one.toWellFormed())) : proper;
});

const oddQueries = fc.constantFrom(
  'a&'.repeat(200),
  'a&'.repeat(7_000),
  '&'.repeat(14_000),
  'limit=1&'.repeat(1_500),
  '%41=%42&'.repeat(1_500),
  '%'.repeat(5_000),
  `cursor=${'A'.repeat(14_000)}`,
  `a=${'+'.repeat(14_000)}`,
  '__proto__=1&__proto__[a]=1&constructor=1',
  'x-service-env=fuzz-branch',
  'x-service-env=production&x-service-env=other',
  'limit=%00',
  '=',
  '=&=&=',
  '?',
);

/** With its question mark, or empty. */
export function queryOf(pairs: fc.Arbitrary<[string, string][]>): fc.Arbitrary<string> {
  const given = pairs.map((all) => all.map(([name, value]) => `${encodeURIComponent(name)}=${value}`).join('&'));
  const joined = fc.oneof(
    { weight: 8, arbitrary: given },
    { weight: 2, arbitrary: fc.tuple(given, oddQueries).map((both) => both.filter(Boolean).join('&')) },
  );
  return joined.map((query) => (query === '' ? '' : `?${query}`));
}

/** The value of a query parameter. */
export const queryValue: fc.Arbitrary<string> = fc.oneof(
  urlText,
  number.map(String),
  fc.constantFrom('1', '20', '100'),
);

export const principal: fc.Arbitrary<Header[]> = fc.oneof(
  { weight: 12, arbitrary: fc.constant<Header[]>([['authorization', 'Bearer {{api-key}}']]) },
  {
    weight: 3,
    arbitrary: fc.constant<Header[]>([
      ['cookie', '{{session}}'],
      ['origin', 'http://{{host}}'],
    ]),
  },
  { weight: 1, arbitrary: fc.constant<Header[]>([]) },
  { weight: 1, arbitrary: fc.constant<Header[]>([['cookie', '{{session}}']]) },
  { weight: 1, arbitrary: word.map((text): Header[] => [['authorization', `Bearer ${text}`]]) },
);

const times = fc.constantFrom(10, 1_000, 5_000, 14_000);

/** Headers that the service reads. */
export const oddHeaders: fc.Arbitrary<Header[]> = fc.array(
  fc.oneof(
    fc.tuple(
      fc.constantFrom(
        'x-service-env',
        'x-inngest-env',
        'x-event-id-seed',
        'x-service-event-id-seed',
        'x-service-sdk',
        'x-forwarded-for',
        'x-forwarded-host',
        'x-forwarded-proto',
        'traceparent',
        'tracestate',
        'baggage',
        'accept-encoding',
        'accept',
        'if-none-match',
        'range',
        'origin',
        'sec-fetch-site',
        'referer',
        'cookie',
        'user-agent',
        'content-encoding',
        'expect',
        'upgrade',
        'host',
        '__proto__',
        'constructor',
      ),
      word,
    ) as fc.Arbitrary<Header>,
    fc
      .tuple(
        fc.constantFrom(
          'cookie',
          'x-forwarded-for',
          'baggage',
          'tracestate',
          'accept-encoding',
          'if-none-match',
          'accept',
          'x-service-event-id-seed',
        ),
        fc.constantFrom('a=b; ', ';', 'a;', 'a,', ' ,', '=', '"', 'session=', '1.1.1.1, ', 'gzip;q=0.1,', 'a=1;b=2,'),
        times,
      )
      .map(([name, text, n]): Header => [name, text.repeat(Math.min(n, Math.floor(14_000 / text.length)))]),
    fc.constantFrom<Header>(
      ['x-service-event-id-seed', '1700000000000,AAAAAAAAAAAAAA=='],
      ['x-service-event-id-seed', '999999999999999,AAAAAAAAAAAAAA=='],
      ['x-service-env', 'fuzz-branch'],
      ['x-service-env', 'production'],
      ['traceparent', '00-00000000000000000000000000000000-0000000000000000-01'],
      ['traceparent', '00-0123456789abcdef0123456789abcdef-0123456789abcdef-01'],
      ['content-encoding', 'gzip'],
      ['expect', '100-continue'],
      ['content-length', '0'],
    ),
  ),
  { maxLength: 2 },
);

/** Most requests have no odd headers, so that their bodies reach the route. */
export const headers = (base: fc.Arbitrary<Header[]>): fc.Arbitrary<Header[]> =>
  fc
    .tuple(base, fc.oneof({ weight: 3, arbitrary: fc.constant<Header[]>([]) }, { weight: 1, arbitrary: oddHeaders }))
    .map(([some, odd]) => [...some.filter(([name]) => !odd.some(([other]) => other === name)), ...odd]);

export function withBody(
  request: Omit<HttpCase, 'kind' | 'body'>,
  pieces: Piece[] | undefined,
  contentType?: string,
): HttpCase {
  const typed: Header[] = contentType === undefined ? [] : [['content-type', contentType]];
  return {
    kind: 'http',
    ...request,
    headers: [...request.headers, ...typed],
    ...(pieces === undefined ? {} : { body: pieces }),
  };
}
