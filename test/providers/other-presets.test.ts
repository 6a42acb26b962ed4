/** Presets with a handshake, whose providers have no library that signs, and generic ones: requests are signed as the providers describe it. */
import { createHmac } from 'node:crypto';
import { presetOf } from '../../src/providers/catalog.ts';
import { itVerifies, type ProviderCase, type SignedRequest } from '../support/provider-tests.ts';
import { type Service, startService } from '../support/service.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

const bodyOf = (id: string) => JSON.stringify(presetOf(id)?.sample.body);

type Encoding = 'hex' | 'base64';
const hmac = (secret: string, text: string, encoding: Encoding = 'hex') =>
  createHmac('sha256', secret).update(text).digest(encoding);

/** A provider that signs the body alone. */
function signsBody(id: string, header: string, prefix = '', encoding: Encoding = 'hex'): ProviderCase['sign'] {
  const body = bodyOf(id);
  return (secret) => ({ headers: { ...JSON_TYPE, [header]: prefix + hmac(secret, body, encoding) }, body });
}

const cases: ProviderCase[] = [
  {
    id: 'meta',
    secrets: ['0123456789abcdef0123456789abcdef', 'fedcba9876543210fedcba9876543210'],
    settings: { verify_token: 'chosen by me' },
    sign: signsBody('meta', 'x-hub-signature-256', 'sha256='),
    hasAge: false,
    hasId: false,
  },
  {
    id: 'strava',
    secrets: ['4Tnq0cKpW9sXb2Ld', 'another-token-0123'],
    settings: { verify_token: 'chosen by me' },
    sign: (secret) => ({ headers: JSON_TYPE, query: `token=${secret}`, body: bodyOf('strava') }),
    tamper: (request) => ({ ...request, query: 'token=4Tnq0cKpW9sXb2Le' }),
    hasAge: false,
  },
  {
    id: 'microsoft-graph',
    secrets: ['a client state', 'another client state'],
    sign: (clientState) => ({ headers: JSON_TYPE, body: notifications(clientState, clientState) }),
    // One item of somebody else.
    tamper: (request) => ({ ...request, body: notifications('a client state', 'guessed') }),
    hasAge: false,
    hasId: false,
  },
  {
    id: 'zoom',
    secrets: ['zoom token 1', 'zoom token 2'],
    sign(secret, _, nowMs) {
      const [body, timestamp] = [bodyOf('zoom'), String(Math.floor(nowMs / 1_000))];
      const signature = `v0=${hmac(secret, `v0:${timestamp}:${body}`)}`;
      return { headers: { ...JSON_TYPE, 'x-zm-request-timestamp': timestamp, 'x-zm-signature': signature }, body };
    },
    hasAge: true,
  },
  {
    id: 'twitch',
    secrets: ['twitch secret 1', 'twitch secret 2'],
    sign: (secret, _, nowMs) => twitch(secret, nowMs, 'notification', bodyOf('twitch')),
    hasAge: true,
  },
  {
    id: 'okta',
    secrets: ['okta secret 1', 'okta secret 2'],
    sign: (secret) => ({ headers: { ...JSON_TYPE, authorization: secret }, body: bodyOf('okta') }),
    tamper: (request) => ({ ...request, headers: { authorization: 'okta secret' } }),
    hasAge: false,
  },
  {
    id: 'x',
    secrets: ['consumer secret 1', 'consumer secret 2'],
    sign: signsBody('x', 'x-twitter-webhooks-signature', 'sha256=', 'base64'),
    hasAge: false,
    hasId: false,
  },
  {
    id: 'asana',
    secrets: ['asana secret 1', 'asana secret 2'],
    sign: signsBody('asana', 'x-hook-signature'),
    hasAge: false,
    hasId: false,
  },
  {
    id: 'dropbox',
    secrets: ['dropbox secret 1', 'dropbox secret 2'],
    sign: signsBody('dropbox', 'x-dropbox-signature'),
    hasAge: false,
    hasId: false,
  },
  {
    id: 'hmac',
    secrets: ['6b657931', '6b657932'],
    verification: {
      scheme: 'hmac',
      algorithm: 'sha512',
      encoding: 'base64url',
      signature: { at: 'header:x-signature', separator: ',', prefix: 's=' },
      signed: '{method}|{path}|{timestamp}|{header:x-id}|{body}',
      timestamp: { at: 'header:x-signature', separator: ',', prefix: 't=', unit: 'ms', tolerance: 60 },
      key: { encoding: 'hex' },
    },
    sign(secret, url, nowMs) {
      const body = bodyOf('hmac');
      const signed = `POST|${new URL(url).pathname}|${nowMs}|7|${body}`;
      const signature = createHmac('sha512', Buffer.from(secret, 'hex')).update(signed).digest('base64url');
      return { headers: { ...JSON_TYPE, 'x-id': '7', 'x-signature': `t=${nowMs},s=${signature}` }, body };
    },
    hasAge: true,
  },
  {
    id: 'api-key',
    secrets: ['key 1', 'key 2'],
    verification: { scheme: 'token', token: { at: 'header:authorization', prefix: 'Bearer ' } },
    sign: (secret) => ({ headers: { ...JSON_TYPE, authorization: `Bearer ${secret}` }, body: bodyOf('api-key') }),
    tamper: (request) => ({ ...request, headers: { authorization: 'Bearer key 11' } }),
    hasAge: false,
    hasId: false,
  },
  {
    id: 'basic-auth',
    secrets: ['ada:pass:word', 'ada:another'],
    sign: (secret) => ({
      headers: { ...JSON_TYPE, authorization: `Basic ${btoa(secret)}` },
      body: bodyOf('basic-auth'),
    }),
    tamper: (request) => ({ ...request, headers: { authorization: `Basic ${btoa('eve:pass:word')}` } }),
    hasAge: false,
    hasId: false,
  },
];

function notifications(...clientStates: string[]): string {
  const value = clientStates.map((clientState) => ({ changeType: 'created', resource: 'users/1', clientState }));
  return JSON.stringify({ value });
}

function twitch(secret: string, nowMs: number, type: string, body: string): SignedRequest {
  const id = 'e76c6bd4-55c9-4987-8304-da1588d8988b';
  // Twitch has nanoseconds.
  const timestamp = new Date(nowMs).toISOString().replace('Z', '123456Z');
  return {
    headers: {
      ...JSON_TYPE,
      'twitch-eventsub-message-id': id,
      'twitch-eventsub-message-type': type,
      'twitch-eventsub-message-timestamp': timestamp,
      'twitch-eventsub-message-signature': `sha256=${hmac(secret, id + timestamp + body)}`,
    },
    body,
  };
}

describe('Webhooks of providers with handshakes, and generic webhooks', () => {
  let service: Service;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  for (const given of cases) itVerifies(given, () => service);
});
