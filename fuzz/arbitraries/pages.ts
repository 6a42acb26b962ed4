/** Requests of browsers: sign-in and sign-out, pages, files and Bull Board. */
import fc from 'fast-check';
import type { Case } from '../case.ts';
import { jsonBody } from './bodies.ts';
import { value, word } from './hostile.ts';
import { type Header, headers, METHODS, principal, queryOf, queryValue, urlText, withBody } from './requests.ts';

const OWN: Header[] = [['origin', 'http://{{host}}']];
const text = fc.oneof(fc.constantFrom('fuzz@example.com', 'correct horse battery', '/runs', '//evil.example'), word);
const credential = fc.oneof(
  word,
  value.map((one) => JSON.stringify(one) ?? ''),
);
const fields = fc.oneof(
  fc.record(
    {
      ...{ email: text, password: text, token: text, next: text, current_password: text },
      ...{ code: word, credential, set_up: word, name: word },
    },
    { requiredKeys: [] },
  ),
  fc.dictionary(word, word, { maxKeys: 4 }),
);

const AUTH_PATHS = [
  'sign-in',
  'set-up',
  'set-password',
  'change-password',
  'sign-out',
  'me',
  'second-factor',
  'second-factor/set-up',
  'account',
  'account/sessions/end',
  'account/totp/set-up',
  'account/totp',
  'account/totp/remove',
  'account/passkeys/set-up',
  'account/passkeys',
  'account/passkeys/remove',
  'account/recovery-codes',
  'oidc/start',
  'oidc/callback',
  'oidc/callback/x',
  'oidc/backchannel-logout',
  'x',
] as const;

const signing: fc.Arbitrary<Case> = fc
  .record({
    path: fc.constantFrom(...AUTH_PATHS),
    method: fc.oneof(
      { weight: 6, arbitrary: fc.constant('POST') },
      { weight: 1, arbitrary: fc.constantFrom(...METHODS) },
    ),
    query: queryOf(
      fc.array(fc.tuple(fc.constantFrom('next', 'token', 'code', 'state', 'iss', 'provider'), queryValue), {
        maxLength: 4,
      }),
    ),
    headers: headers(fc.oneof(fc.constant(OWN), fc.constant<Header[]>([]), principal)),
    body: fc.oneof(
      fields.map((all) => ({ pieces: [formOf(all)], type: 'application/x-www-form-urlencoded' })),
      jsonBody(fc.oneof(fields, value)).map((pieces) => ({ pieces, type: 'application/json' })),
      fc
        .constantFrom('a&', '&', '%', 'email=a&', '%41=%')
        .map((one) => ({ pieces: [{ repeat: one, times: 5_000 }], type: 'application/x-www-form-urlencoded' })),
    ),
  })
  .map(({ path, method, query, headers, body }) =>
    withBody({ area: `/auth/${path}`, method, target: `/auth/${path}${query}`, headers }, body.pieces, body.type),
  );

function formOf(all: Record<string, string>): string {
  const pairs = Object.entries(all).map(([name, one]) =>
    [name, one].map((part) => encodeURIComponent(part.toWellFormed())).join('='),
  );
  return pairs.join('&');
}

const PATHS = [
  '/',
  '/runs',
  '/events/x',
  '/sign-in',
  '/set-up',
  '/set-password',
  '/second-factor',
  '/account',
  '/llms.txt',
  '/docs/alerts.md',
  '/docs/..%2f..%2fpackage.json',
  '/docs/%00.md',
  '/docs',
  '/openapi.json',
  '/metrics',
  '/health',
  '/readyz',
  '/livez',
  '/favicon.svg',
  '/assets/',
  '/assets/index.html',
  '/assets/../package.json',
  '/assets/%2e%2e/%2e%2e/package.json',
  '/assets/..%5c..%5cpackage.json',
  '/assets/%00',
  '/assets//etc/passwd',
  '/queues',
  '/queues/',
  '/queues/api/queues',
  '/queues/static/../../package.json',
  '/queues/api/queues/ingest/{{event}}',
  '/queues/api/queues/runs/{{run}}/logs',
  '/queues/queue/ingest',
  '//',
  '/%',
  '/%zz',
  '/.env',
  '*',
  'http://other.example/',
] as const;

const BOARD_PARAMS = ['activeQueue', 'status', 'page', 'jobsPerPage', 'next', 'token'] as const;

const pageLoads: fc.Arbitrary<Case> = fc
  .record({
    path: fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...PATHS) },
      { weight: 1, arbitrary: urlText.map((one) => `/${one}`) },
    ),
    method: fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom('GET', 'HEAD') },
      { weight: 1, arbitrary: fc.constantFrom('OPTIONS', 'TRACE', 'PROPFIND') },
    ),
    query: queryOf(fc.array(fc.tuple(fc.constantFrom(...BOARD_PARAMS), queryValue), { maxLength: 4 })),
    headers: headers(principal),
  })
  .map(({ path, method, query, headers }) =>
    withBody({ area: `page ${path}`, method, target: path + query, headers }, undefined),
  );

export const pageCases: fc.Arbitrary<Case> = fc.oneof(signing, pageLoads);
