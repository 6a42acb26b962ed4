/** Every parser of untrusted input on the main thread, with its largest and worst-case inputs. Add a row for each new parser. */
import type { IncomingHttpHeaders } from 'node:http';
import { ROOT_CONTEXT } from '@opentelemetry/api';
import { W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core';
import { BODY_MAX_BYTES as REGISTRATION_BYTES } from '../../src/api/apps/register.ts';
import { safeRedirect } from '../../src/api/auth/csrf.ts';
import { SESSION_COOKIE } from '../../src/api/auth/host-cookie.ts';
import { bearerOf } from '../../src/api/auth/principals.ts';
import { mediaTypeOf } from '../../src/api/http/body.ts';
import { selectionOf } from '../../src/api/http/environment-selection.ts';
import { clientAddress } from '../../src/api/http/incoming-request.ts';
import { parseFields } from '../../src/api/http/urlencoded.ts';
import { timeSchema, validate } from '../../src/api/http/validation.ts';
import { WebhookFilters } from '../../src/api/receive/filter-webhook.ts';
import { canonicalHeaders, toTransformRequest } from '../../src/api/receive/webhook-request.ts';
import { namePosition, pageQuery, timePosition } from '../../src/api/rest/lists.ts';
import { BODY_LIMIT_BYTES as API_BYTES } from '../../src/api/rest/mount.ts';
import type { Route } from '../../src/api/rest/route.ts';
import { BODY_LIMIT_BYTES as SAMPLE_BYTES, transformRoutes } from '../../src/api/routes/transforms.ts';
import { canonical } from '../../src/functions/canonical-json.ts';
import { interpretResponse } from '../../src/functions/interpret-response.ts';
import { hashedKey, provesKey, sign } from '../../src/functions/signing.ts';
import { registrationSchema } from '../../src/model/apps/app.ts';
import { enforceQuotas } from '../../src/model/apps/quotas.ts';
import { checkFunctions } from '../../src/model/apps/registered-functions.ts';
import { addressListSchema, matcherOf, nameListSchema } from '../../src/model/auth/allow-lists.ts';
import { environmentNameSchema } from '../../src/model/environment.ts';
import { fingerprintOf } from '../../src/model/errors/fingerprint.ts';
import { validateEvents } from '../../src/model/events/sent-event.ts';
import { compile, compileWait } from '../../src/model/expressions/expression.ts';
import { parseSeed } from '../../src/model/ids.ts';
import { LOG_BATCH_MAX_BYTES, linesOf, logBatchSchema } from '../../src/model/runs/log-lines.ts';
import { parseOps } from '../../src/model/runs/operation.ts';
import { retryAfterMs } from '../../src/model/runs/retry.ts';
import { parseSearch, LENGTH_MAX as SEARCH_CHARACTERS } from '../../src/model/search/parse.ts';
import { isShallow, parseExact, parseIntegers, tryParseJson } from '../../src/model/values/json.ts';
import { durationMs, momentMs } from '../../src/model/values/time.ts';
import { extractSpan } from '../../src/tracing/carrier.ts';
import { FUNCTION_LIMITS } from '../support/function-limits.ts';
import { type Attack, fill, json, multiparts, numbered, queries, runs } from './attacks.ts';
import { contextWith } from './context.ts';
import { expressions } from './expressions.ts';
import { signedResponses } from './responses.ts';
import { bodiesOf, fieldsOf, ROUTES } from './routes.ts';
import { verifyForm, verifyItems, verifyJwt, verifySignatures } from './signatures.ts';

/** Default of CALL_RESPONSE_MAX_BYTES. */
const RESPONSE_MAX_BYTES = 8_454_144;
const KB = 1_024;
/** All headers and the request line: Node's limit (--max-http-header-size). */
export const HEADER_BYTES = 16 * KB;
/** Default of EVENT_MAX_BYTES. */
export const EVENT_BYTES = 512 * KB;
/** The size limit of the sign-in form. */
const FORM_BYTES = 16 * KB;
const SDK: IncomingHttpHeaders = { 'x-service-sdk': 'x' };

export interface Parser {
  name: string;
  bytes: number;
  /** A larger budget than the default, with the reason. */
  larger?: { budgetMs: number; reason: string };
  attacks: readonly Attack[];
  /** Preparation that has its own row. */
  prepare?(text: string): unknown;
  // biome-ignore lint/suspicious/noExplicitAny: text, or the result of the preparation
  parse(text: any): unknown;
}

/** `scripts/test --all` has the largest responses, the others a quarter with a quarter of the budget. */
const RESPONSE_PARTS = process.env.TEST_ALL ? 1 : 4;
const RESPONSE_BYTES = RESPONSE_MAX_BYTES / RESPONSE_PARTS;
const RESPONSES = {
  budgetMs: 800 / RESPONSE_PARTS,
  reason: "an app's own response, of which V8's parser takes most: it keeps a worker from its other calls for so long",
};
const QUOTAS = {
  apps: 200,
  functionsOfApp: 2_000,
  functions: 5_000,
  destinations: 100,
  configBytes: 65_536,
  branches: 200,
};
/** Without running a transform: only the preparation of the sample. */
const [SAMPLES] = transformRoutes({
  webhookFilters: new WebhookFilters(),
  transforms: { check: async () => {}, run: async () => ({ event: null, logs: [], durationMs: 0 }) } as never,
  eventMaxFutureMs: 0,
}) as [Route];

const header = (
  name: string,
  parse: (text: string) => unknown,
  parts: readonly string[],
  more: Attack[] = [],
): Parser => ({
  name,
  bytes: HEADER_BYTES,
  attacks: [...runs(HEADER_BYTES, parts), ...more],
  parse,
});

/** Made once for the fields of all bodies, with room for the name of the field. */
const FIELD_VALUES = json(API_BYTES - 64).filter(([title]) =>
  /^(?:empty lists|empty objects|another key each time|strings|a string)$/.test(title),
);
/** An item with a token at the end of the longest path. */
const NESTED = `${'{"a":'.repeat(9)}1${'}'.repeat(9)}`;
/** The size limit of an error's stack (src/model/runs/run-error.ts). */
const STACK_BYTES = 65_536;

export const PARSERS: readonly Parser[] = [
  {
    name: 'a query string',
    bytes: HEADER_BYTES,
    attacks: queries(HEADER_BYTES),
    parse: (text) => parseFields(text, 'the query'),
  },
  {
    name: 'a form to sign in with',
    bytes: FORM_BYTES,
    attacks: queries(FORM_BYTES),
    parse: (text) => parseFields(text, 'the form'),
  },
  {
    name: "a webhook's form",
    bytes: EVENT_BYTES,
    attacks: queries(EVENT_BYTES),
    parse: (text) => toTransformRequest(Buffer.from(text), { 'content-type': 'application/x-www-form-urlencoded' }, ''),
  },
  {
    name: "a webhook's multipart body",
    bytes: EVENT_BYTES,
    attacks: multiparts(EVENT_BYTES),
    parse: (text) => toTransformRequest(Buffer.from(text), { 'content-type': 'multipart/form-data; boundary=b' }, ''),
  },
  {
    name: "a webhook's JSON",
    bytes: EVENT_BYTES,
    attacks: json(EVENT_BYTES),
    parse: (text) => toTransformRequest(Buffer.from(text), { 'content-type': 'application/json' }, ''),
  },
  {
    name: "a webhook's query string",
    bytes: HEADER_BYTES,
    attacks: queries(HEADER_BYTES),
    parse: (text) => toTransformRequest(Buffer.alloc(0), {}, text),
  },
  header('the signatures of a webhook', (text) => verifySignatures({ headers: { 'x-signature': text }, body: 'x' }), [
    'v1=',
    'v1=,',
    `v1=${'A'.repeat(86)}==,`,
    ',',
    '=',
    't=1,',
    ' ',
    't=',
    'A',
  ]),
  header(
    'the JSON Web Token of a webhook',
    (text) => verifyJwt({ headers: { 'x-signature': text } }),
    ['.', 'A', 'A.', 'eyJ', '=', '_'],
    [['a long head', fill('W10s', 8_000, `${Buffer.from('{"alg":"HS256","a":[').toString('base64url')}`, '.e30.AAAA')]],
  ),
  {
    name: "items of a webhook's body, each with a token",
    bytes: EVENT_BYTES,
    attacks: [
      ...json(EVENT_BYTES),
      ['tokens ten levels deep', fill(`${NESTED},`, EVENT_BYTES, '[', `${NESTED}]`)],
      ['tokens under a name with dots', fill('{"a.a.a.a.a.a.a.a.a":1},', EVENT_BYTES, '[', '{"a.a.a.a.a.a.a.a.a":1}]')],
    ],
    parse: (text) => verifyItems({ body: text }),
  },
  {
    name: "a webhook's form, whose sorted fields are signed",
    bytes: EVENT_BYTES,
    attacks: queries(EVENT_BYTES),
    parse: (text) => verifyForm({ headers: { 'x-twilio-signature': `${'A'.repeat(27)}=` }, body: text }),
  },
  {
    name: 'lines of the log of a run',
    bytes: LOG_BATCH_MAX_BYTES,
    attacks: [
      ...json(LOG_BATCH_MAX_BYTES, { around: ['{"batch":"b","attempt":0,"lines":', '}'] }),
      ...json(LOG_BATCH_MAX_BYTES, {
        around: ['{"batch":"b","attempt":0,"lines":[{"at":1,"level":"info","message":"","fields":{"a":', '}}]}'],
      }).map(([title, text]): Attack => [`fields of ${title}`, text]),
    ],
    parse: (text) => linesOf(validate(logBatchSchema, JSON.parse(text), 'field')),
  },
  {
    name: 'events',
    bytes: EVENT_BYTES,
    attacks: [
      ...json(EVENT_BYTES),
      ...json(EVENT_BYTES, { around: ['{"name":"x","data":{"a":', '}}'] }).map(
        ([title, text]): Attack => [`data of ${title}`, text],
      ),
      ['events without number', fill('{"name":"x","data":{}},', EVENT_BYTES, '[', '{"name":"x","data":{}}]')],
      ['invalid events without number', fill('{},', EVENT_BYTES, '[', '{}]')],
      ['fields that no event has', `{"name":"x","data":{},${numbered(EVENT_BYTES - 50, (n) => `"${n}":1,`)}"z":1}`],
    ],
    parse: (text) => validateEvents(parseExact(text), text),
  },
  {
    name: 'numbers of expressions',
    bytes: EVENT_BYTES,
    attacks: json(EVENT_BYTES),
    parse: (text) => tryParseJson(text, parseIntegers),
  },
  { name: 'the depth of JSON', bytes: EVENT_BYTES, attacks: json(EVENT_BYTES), parse: (text) => isShallow([], text) },
  {
    name: 'cookies',
    bytes: HEADER_BYTES,
    attacks: [
      ...runs(HEADER_BYTES, ['session=; ', 'session', ';', ' ', 'a=b; ', 'session="', '=', '; session']),
      ['another name each time', numbered(HEADER_BYTES, (n) => `${n}=1; `)],
    ],
    parse: (text) => SESSION_COOKIE.read(contextWith({ cookie: text }), false),
  },
  {
    name: 'names of headers',
    bytes: HEADER_BYTES,
    attacks: [...runs(HEADER_BYTES, ['a', 'a-', '-', '-a', 'X-'], 'a'), ['2,000 of them', 'many']],
    parse: (text) => canonicalHeaders(text === 'many' ? manyHeaders() : { [text]: 'x' }),
  },
  header('X-Forwarded-For', (text) => clientAddress(contextWith({ 'x-forwarded-for': text })), [
    '1',
    '1.',
    '.',
    '[',
    '[1',
    ':',
    '1.1.1.1, ',
    ' ',
    ',',
  ]),
  header(
    'the bearer of a key',
    (text) => bearerOf(contextWith({ authorization: text })),
    ['Bearer ', ' ', 'a', 'B'],
    [['white space after it', fill(' ', HEADER_BYTES, 'Bearer ', 'a b')]],
  ),
  header(
    'an event-id-seed',
    parseSeed,
    ['1', '1,', ',', 'A', '='],
    [['digits and base64', fill('A', HEADER_BYTES, '1,', '==')]],
  ),
  header('the selection of an environment', (text) => selectionOf({ 'x-service-env': text }, {}), ['a', 'a/', '-']),
  header('the name of an environment', (text) => environmentNameSchema.safeParse(text), ['a', 'a/', 'a.', '/', 'a-']),
  header('a cursor', (text) => pageQuery(timePosition).cursor.safeParse(text), ['A', 'W1tb', '_', 'eyJ']),
  header('a cursor among names', (text) => pageQuery(namePosition).cursor.safeParse(text), ['A', 'Ig', '_']),
  header(
    'a time as a parameter',
    (text) => timeSchema.safeParse(text),
    ['1', '-', '2026-', 'T', ':', '0', '.0', '2026-01-01T00:00:00.'],
    [['a long fraction', fill('0', HEADER_BYTES, '2026-01-01T00:00:00.', 'Z!')]],
  ),
  header(
    'where to go after signing in',
    safeRedirect,
    ['/', '/a', '/../', '/./', '\\', '%2e', '//', '/?', '\t', '@', ':'],
    [
      ['a path up and down', fill('/a/..', HEADER_BYTES)],
      ['a host of many labels', fill('a.', HEADER_BYTES, '//')],
      ['a host of Punycode', fill('xn--a', HEADER_BYTES, '//')],
    ],
  ),
  header(
    'a traceparent and tracestate',
    extractSpan,
    ['0', 'a=1,', '=', ',', ' ', '-'],
    [['a long tracestate', fill('a=1,', HEADER_BYTES, `00-${'1'.repeat(32)}-${'1'.repeat(16)}-01 `)]],
  ),
  {
    name: "an app's proof",
    bytes: HEADER_BYTES,
    attacks: runs(HEADER_BYTES, ['signkey-', 'a', '-', 'signkey-a-', '_']),
    parse: (text) => [provesKey(text, 'signkey-prod-0123'), hashedKey(text)],
  },
  {
    name: 'a body that is signed',
    bytes: EVENT_BYTES,
    attacks: [['bytes', fill('x', EVENT_BYTES)]],
    parse: (text) => sign(text, 'signkey-a-00', 0),
  },
  {
    name: 'canonical JSON of an event',
    bytes: EVENT_BYTES,
    attacks: [
      ...json(EVENT_BYTES, { around: ['{"data":', '}'] }),
      ['a run of backslashes, and half a surrogate pair', fill('\\\\', EVENT_BYTES, '{"data":"', '\\ud800"}')],
      ['halves of surrogate pairs after backslashes', fill('\\\\\\ud800', EVENT_BYTES, '{"data":"', '"}')],
    ],
    prepare: validated,
    parse: canonical,
  },
  header(
    'a retry-after',
    (text) => retryAfterMs(text, 0),
    ['1', ' ', '1.', '.', '9', '-', 'Mon, 0', '2026-01-01', '\t'],
    [
      ['white space before', fill(' ', HEADER_BYTES, '', '1')],
      ['a date of many parts', fill('1 ', HEADER_BYTES, 'Thu, ')],
      ['a date of many parentheses', fill('(', HEADER_BYTES, 'Thu, 1')],
      ['a year of many digits', fill('9', HEADER_BYTES, '2026-01-01')],
    ],
  ),
  header(
    'a time string',
    durationMs,
    ['1', '1s', '1s ', ' ', '1.', '1.1', '1ms', '1m', 's'],
    [['digits around a point', fill('1', HEADER_BYTES / 2, '', '.') + fill('1', HEADER_BYTES / 2)]],
  ),
  {
    name: 'a moment that a response names',
    bytes: EVENT_BYTES,
    attacks: [
      ...runs(EVENT_BYTES, ['1', '1s', '1s ', ' ', '1.1', '-', '\n', '(', '1 ', '2026-01-01T']),
      ['a time string', fill('1s', EVENT_BYTES)],
      ['parentheses of a date', fill('(a)', EVENT_BYTES, 'Thu, 1 ')],
    ],
    parse: (text) => momentMs(text, 0),
  },
  {
    name: 'lists of addresses',
    bytes: 200 * 64,
    attacks: runs(64, ['1', ':', '::', '1.', 'f', '/', '0:', '::ffff:', '%', '1:'], '/128'),
    parse: (text) => addressListSchema.safeParse({ mode: 'deny', items: Array(200).fill(text) }),
  },
  {
    name: 'an address, held against 200 ranges',
    bytes: HEADER_BYTES,
    attacks: [...runs(HEADER_BYTES, ['1', ':', '1.', '0:', '::', 'f']), ['an address', '2001:db8::1']],
    parse: (text) => RANGES.allowsAddress(text),
  },
  {
    name: 'lists of event names',
    bytes: 200 * 256,
    attacks: runs(256, ['a', '*', 'a/', '/'], '*'),
    parse: (text) => nameListSchema.safeParse({ mode: 'deny', items: Array(200).fill(text) }),
  },
  {
    name: '500 event names, held against 200 patterns',
    bytes: 256,
    attacks: runs(256, ['a', 'a/', '*']),
    parse: (text) => Array.from({ length: 500 }, () => NAMES.allowsName(text)),
  },
  ...[
    { name: "an app's response that a run is done", status: 200 },
    { name: "an app's response of operations", status: 206 },
    { name: "an app's error", status: 500 },
  ].flatMap(({ name, status }): Parser[] => {
    const parse = (text: string) => interpretResponse({ status, headers: SDK, body: text }, 0);
    const attacks = (bytes: number) => [...json(bytes), ...signedResponses(bytes)];
    return [
      { name, bytes: EVENT_BYTES, attacks: attacks(EVENT_BYTES), parse },
      { name, bytes: RESPONSE_BYTES, larger: RESPONSES, attacks: attacks(RESPONSE_BYTES), parse },
    ];
  }),
  {
    name: 'operations',
    bytes: RESPONSE_MAX_BYTES,
    attacks: signedResponses(RESPONSE_MAX_BYTES),
    prepare: JSON.parse,
    parse: parseOps,
  },
  {
    name: 'the expression of a trigger',
    bytes: EVENT_BYTES,
    attacks: expressions(EVENT_BYTES),
    parse: (text) => compile(text),
  },
  {
    name: 'the expression of a wait',
    bytes: EVENT_BYTES,
    attacks: expressions(EVENT_BYTES),
    parse: (text) => compileWait(text),
  },
  {
    name: 'a search',
    bytes: HEADER_BYTES,
    attacks: [...expressions(HEADER_BYTES), ...expressions(SEARCH_CHARACTERS)],
    parse: (text) => parseSearch(text, 'events'),
  },
  {
    name: 'the fingerprint of an error',
    bytes: STACK_BYTES,
    attacks: runs(STACK_BYTES, [
      'a',
      '1a',
      '1.',
      '"',
      "'a ",
      'a@',
      '://',
      '\n',
      '    at a (b:1:2)\n',
      '  File "a", line 1\n',
      '\tb.go:1\n',
      'Traceback (most recent call last)\n',
      'goroutine 1 [\n',
      '/node_modules/',
    ]),
    parse: (text) => fingerprintOf('f', text, { name: text, message: text, stack: text }),
  },
  {
    name: 'a registration',
    bytes: REGISTRATION_BYTES,
    larger: { budgetMs: 250, reason: 'only holders of a signing key register, and seldom' },
    attacks: [
      ...json(REGISTRATION_BYTES),
      ...json(REGISTRATION_BYTES, { around: ['{"url":"http://a/","appName":"a","functions":', '}'] }).map(
        ([title, text]): Attack => [`functions of ${title}`, text],
      ),
      ...[
        ['triggers', '{"event":"a"},', '"triggers":[', '{"event":"a"}],"steps":{}'],
        ['fields', '"a":1,', '', '"z":1'],
      ].map(([title, part, before, after]): Attack => {
        const start = `{"url":"http://a/","appName":"a","functions":[{"id":"a",${before}`;
        return [`many ${title}`, fill(part as string, REGISTRATION_BYTES, start, `${after}}]}`)];
      }),
    ],
    parse(text) {
      const given = JSON.parse(text);
      enforceQuotas(given, QUOTAS);
      return [...checkFunctions(validate(registrationSchema, given, 'field'), 'service', FUNCTION_LIMITS)];
    },
  },
  {
    name: 'parameters of all routes of the API, one after the other',
    bytes: HEADER_BYTES,
    attacks: runs(HEADER_BYTES, ['a', '1', '-', ':', ',', '%', ' ', 'A', '/', '*', '.', 'T', 'webhook:'], '!'),
    parse: (text) =>
      ROUTES.map((route) =>
        fieldsOf(route).map((name) => tried(() => route.query && validate(route.query, { [name]: text }, ''))),
      ),
  },
  {
    name: 'parameters that no route of the API knows, of all routes one after the other',
    bytes: HEADER_BYTES,
    attacks: queries(HEADER_BYTES),
    prepare: (text) => tried(() => parseFields(text, '')),
    parse: (lists) => ROUTES.map(({ query }) => tried(() => query && validate(query, lists, ''))),
  },
  {
    name: 'a body of the API',
    bytes: API_BYTES,
    larger: { budgetMs: 100, reason: 'only holders of a key that may write send one' },
    attacks: json(API_BYTES),
    parse: (text) => JSON.parse(text),
  },
  ...bodiesOf(ROUTES).map(
    ({ name, schema, fields }): Parser => ({
      name,
      bytes: API_BYTES,
      larger: { budgetMs: 100, reason: 'only holders of a key that may write send one' },
      attacks: fields.flatMap((field) =>
        FIELD_VALUES.map(([title, text]): Attack => [`"${field}" of ${title}`, `{"${field}":${text}}`]),
      ),
      parse: (text) => validate(schema, JSON.parse(text), 'field'),
    }),
  ),
  {
    name: "a transform's sample",
    bytes: SAMPLE_BYTES,
    larger: { budgetMs: 250, reason: 'only those who may change webhooks try transforms' },
    attacks: [
      ...json(SAMPLE_BYTES, { around: ['{"transform":"x","body":', '}'] }),
      ...json(500_000).map(
        ([title, text]): Attack => [`text of ${title}`, JSON.stringify({ transform: 'x', body: text })],
      ),
      ['many values', fill('"",', SAMPLE_BYTES, '{"transform":"x","query":{"a":[', '""]}}')],
      ...['headers', 'query'].map(
        (field): Attack => [
          `many ${field}`,
          `{"transform":"x","${field}":{${numbered(SAMPLE_BYTES - 50, (n) => `"${n}":"",`)}"z":""}}`,
        ],
      ),
    ],
    parse: (text) =>
      SAMPLES.handle({
        body: validate(SAMPLES.body as NonNullable<Route['body']>, JSON.parse(text), 'field'),
      } as never),
  },
  header('Baggage, a traceparent and a tracestate', carriedBy, ['a=1,', 'a=', ',', ';', '=', '%', 'a=1;b;', ' ']),
  header("a multipart body's content type", boundaryOf, ['a', ';', 'boundary=', '"', '\\"', ' ', 'b="', '=', ';a=b']),
  header(
    'Accept and Accept-Encoding',
    (text) => {
      const context = contextWith({ accept: text, 'accept-encoding': text });
      return [context.acceptsEncodings('gzip', 'br'), context.accepts('html', 'json')];
    },
    ['a,', 'gzip;q=0.1,', ' ,', ',', ';', 'a;q=', '"', '*/*,', 'a/b;c="', '\\'],
  ),
  header('a content type', (text) => mediaTypeOf(text), ['a', ';', '/', ' ', 'a/']),
];

const RANGES = matcherOf({
  ipAddresses: { mode: 'deny', items: Array.from({ length: 200 }, (_, n) => `2001:db8:${n}::/64`) },
});
const NAMES = matcherOf({
  eventNames: { mode: 'deny', items: Array.from({ length: 200 }, (_, n) => `${'a'.repeat(200)}${n}*`) },
});

/** Limit of Node. */
function manyHeaders(): IncomingHttpHeaders {
  return Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`x-${Math.random().toString(36)}-${n}`, 'x']));
}

/** null: rejected */
function validated(text: string): unknown {
  try {
    const value = parseExact(text);
    return isShallow(value, text) ? value : null;
  } catch {
    return null;
  }
}

/** The propagators of the OpenTelemetry SDK. */
function carriedBy(text: string): unknown {
  const readers = [new W3CBaggagePropagator(), new W3CTraceContextPropagator()];
  const headers = { baggage: text, traceparent: text, tracestate: text };
  const getter = { get: (_: unknown, name: string) => headers[name as keyof typeof headers], keys: () => [] };
  return readers.map((reader) => reader.extract(ROOT_CONTEXT, headers, getter));
}

function boundaryOf(text: string): unknown {
  return toTransformRequest(Buffer.from('--b--'), { 'content-type': `multipart/form-data; ${text}` }, '');
}

function tried(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}
