/** Input of webhooks with providers: mostly valid, so that verification is compiled and versions come about. */
import fc from 'fast-check';
import { PRESETS } from '../../src/providers/catalog.ts';
import type { Case, Piece } from '../case.ts';
import { SECRET_MARK } from '../providers.ts';
import { jsonBody } from './bodies.ts';
import { number, value, word } from './hostile.ts';
import { headers, principal, withBody } from './requests.ts';
import { search } from './searches.ts';

/** Mostly one of the first, sometimes anything. */
const mostly = (right: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 30, arbitrary: right }, { weight: 1, arbitrary: value });

const location = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.constantFrom(
      'header:x-signature',
      'header:authorization',
      'body:a.b',
      'body:*.a',
      'query:token',
      'form:a',
      'body:__proto__.a',
      'body:constructor.name',
      'header:__proto__',
      `body:*${'.*'.repeat(99)}`,
      `body:${'a.'.repeat(99)}a`,
      'body:....',
    ),
  },
  { weight: 1, arbitrary: word.map((text) => `body:${text}`) },
  { weight: 1, arbitrary: word },
);
const template = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .array(
        fc.oneof(
          fc.constantFrom('{body}', '{timestamp}', '{url}', '{path}', '{method}', '.', '{', '}', '{{body}}'),
          location.map((one) => `{${one}}`),
        ),
        { minLength: 1, maxLength: 6 },
      )
      .map((parts) => parts.join('')),
  },
  { weight: 1, arbitrary: fc.constantFrom('{body}', '{url}', '{', '{a}', '{body:*}').map((one) => one.repeat(80)) },
  { weight: 1, arbitrary: word },
);
const optional = { requiredKeys: ['at'] as ['at'] };
const field = fc.record({ at: location, separator: word, prefix: word }, optional);
const timestamp = fc.record({
  at: location,
  unit: fc.constantFrom('s', 'ms', 'iso'),
  tolerance: fc.constantFrom(1, 300, 86_400, 0, -1),
});
const tolerance = fc.constantFrom(0, 60, 86_400, -1, 1e308);
const token = fc.record({ scheme: fc.constant('token'), token: field });

const verification = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record(
      {
        scheme: fc.constant('hmac'),
        algorithm: fc.constantFrom('sha1', 'sha256', 'sha384', 'sha512', 'md5'),
        encoding: fc.constantFrom('hex', 'base64', 'base64url', 'utf8'),
        signature: field,
        signed: template,
        timestamp,
        key: fc.record(
          { encoding: fc.constantFrom('utf8', 'hex', 'base64'), prefix: fc.constantFrom('whsec_', '') },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: ['scheme', 'algorithm', 'encoding', 'signature', 'signed'] },
    ),
  },
  { weight: 1, arbitrary: token },
  { weight: 1, arbitrary: fc.constant({ scheme: 'basic' }) },
  {
    weight: 1,
    arbitrary: fc.record(
      {
        scheme: fc.constant('jwt'),
        token: field,
        algorithms: fc.array(fc.constantFrom('HS256', 'RS256', 'ES256', 'EdDSA', 'none'), { maxLength: 7 }),
        issuer: word,
        audience: word,
        tolerance,
      },
      { requiredKeys: ['scheme', 'token', 'algorithms'] },
    ),
  },
);

/** Each is one that no response may show. */
const secret = fc.oneof(
  fc.constantFrom(
    SECRET_MARK,
    `whsec_${SECRET_MARK}`,
    `fuzz:${SECRET_MARK}`,
    SECRET_MARK.padEnd(32, '0'),
    SECRET_MARK.padEnd(64, '0'),
    `-----BEGIN PUBLIC KEY-----\n${SECRET_MARK}\n-----END PUBLIC KEY-----`,
    `https://user:${SECRET_MARK}@127.0.0.1:1/keys`,
    `${SECRET_MARK}\0`,
    `${SECRET_MARK}${'x'.repeat(4_082)}`,
    `${SECRET_MARK}${'x'.repeat(4_083)}`,
  ),
  fc.constantFrom('', ' ', 'https://127.0.0.1:1/keys', '\ud800'),
);

const filter = fc.oneof(
  search.map((text) => text.replaceAll('data', 'body')),
  fc.constantFrom(
    'body.type.startsWith("invoice.")',
    'headers["x-a"] == "b" && query.a[0] == "1" && method == "POST"',
    'body.items.all(x, body.items.all(y, x == y))',
    'body.a.map(x, [x, x, x]).exists(y, y == 1)',
    '"a".matches("(a+)+$")',
    'now() > 0',
    `${'('.repeat(400)}true${')'.repeat(400)}`,
    'headers.a',
    'unknown.a',
  ),
);

const fields: Record<string, fc.Arbitrary<unknown>> = {
  name: word,
  provider: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('hmac', 'api-key', 'jwt', 'basic-auth', null) },
    { weight: 6, arbitrary: fc.constantFrom(...PRESETS.map(({ id }) => id)) },
    { weight: 1, arbitrary: word },
  ),
  secrets: fc.array(secret, { maxLength: 3 }),
  verify: fc.boolean(),
  verification,
  settings: fc.dictionary(
    fc.oneof(fc.constantFrom(...PRESETS.flatMap(({ settings }) => settings.map(({ name }) => name))), word),
    word,
    { maxKeys: 3 },
  ),
  filter: fc.oneof(filter, fc.constant(null)),
  methods: fc.array(fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE'), { maxLength: 6 }),
  deduplicate: fc.boolean(),
  max_body_bytes: fc.oneof(number, fc.constantFrom(1, 1_000, null)),
  large_bodies: fc.oneof(
    fc.constant(null),
    fc.record(
      {
        max_bytes: number,
        fields: fc.array(fc.oneof(word, fc.constantFrom('a.*.b', '__proto__', '..')), { maxLength: 60 }),
      },
      { requiredKeys: [] },
    ),
  ),
  transform: fc.constantFrom('function transform(evt) { return evt; }', 'function transform() {', 'transform = 1'),
  message: word,
  if_version: fc.oneof(number, fc.constantFrom(1, 2)),
};

const handling = (requiredKeys: string[]) =>
  fc.record(Object.fromEntries(Object.entries(fields).map(([name, one]) => [name, mostly(one)])), { requiredKeys });

const webhook = fc.constantFrom('{{webhook}}', '{{webhook-signed}}');
const version = fc.constantFrom('1', '2', '3', '0', '-1', '1e3', '99999999999999999999', 'x');

const requests = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      method: fc.constant('POST'),
      path: fc.constant('/v1/webhooks'),
      body: handling(['name', 'provider']),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      method: fc.constant('PATCH'),
      path: webhook.map((id) => `/v1/webhooks/${id}`),
      body: handling([]),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      method: fc.constant('POST'),
      path: webhook.map((id) => `/v1/webhooks/${id}/secrets`),
      body: fc.record({ secret, keep_old_seconds: mostly(fc.constantFrom(0, 60, 2_592_000, 2_592_001)) }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      method: fc.constant('POST'),
      path: fc.tuple(webhook, version).map(([id, one]) => `/v1/webhooks/${id}/versions/${one}/restore`),
      body: fc.record({ message: mostly(word), if_version: mostly(fc.constantFrom(1, 2, 3)) }, { requiredKeys: [] }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      method: fc.constant('GET'),
      path: fc
        .tuple(webhook, version, version)
        .map(([id, one, other]) => `/v1/webhooks/${id}/versions/${one}/diff?with=${other}`),
      body: fc.constant(undefined),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      method: fc.constant('POST'),
      path: webhook.map((id) => `/v1/webhooks/${id}/replays`),
      body: fc.record(
        {
          dry_run: mostly(fc.boolean()),
          outcomes: mostly(fc.array(fc.constantFrom('accepted', 'rejected', 'filtered', 'handshake', 'held'))),
          reasons: mostly(fc.array(fc.oneof(fc.constantFrom('verification_failed', 'transform_failed'), word))),
          draft_filter: mostly(fc.oneof(filter, fc.constant(null))),
          rate: mostly(fc.constantFrom(1, 100)),
        },
        { requiredKeys: ['dry_run'] },
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      method: fc.constant('POST'),
      path: fc
        .constantFrom('acknowledge', 'resolve', 'ignore', 'reopen', 'replay')
        .map((action) => `/v1/webhook-issues/{{webhook-issue}}/${action}`),
      body: fc.record({ dry_run: mostly(fc.boolean()), since: mostly(word) }, { requiredKeys: [] }),
    }),
  },
);

export const webhookInputs: fc.Arbitrary<Case> = requests.chain(({ method, path, body }) =>
  fc
    .record({ pieces: body === undefined ? fc.constant(undefined) : inJson(body), headers: headers(principal) })
    .map(
      ({ pieces, headers }): Case =>
        withBody({ area: `${method} webhook input`, method, target: path, headers }, pieces, 'application/json'),
    ),
);

/** Nearly always whole. */
function inJson(body: object): fc.Arbitrary<Piece[]> {
  return fc.oneof(
    { weight: 20, arbitrary: fc.constant<Piece[]>([JSON.stringify(body)]) },
    { weight: 1, arbitrary: jsonBody(fc.constant(body)) },
  );
}
