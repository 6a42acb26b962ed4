/** The engine of handshakes alone: what no preset has yet, and properties over any request. */
import { expect } from 'chai';
import fc from 'fast-check';
import { errorOf } from '../../src/api/receive/verify-webhook.ts';
import { PRESETS, presetOf } from '../../src/providers/catalog.ts';
import { type HandshakeOptions, type HandshakeResponse, respondToHandshake } from '../../src/providers/handshakes.ts';
import { handshakeSchema, type Preset } from '../../src/providers/preset.ts';
import { ProviderRequest } from '../../src/providers/provider-request.ts';
import type { Failure } from '../../src/providers/verification/verification.ts';
import { anyCharacter } from '../support/any-character.ts';

const SECRET = 'the-secret-of-this-webhook-7Qk2';
const TOKEN = 'the-verify-token-of-this-webhook-9Wd4';

function requestOf(method: string, headers: Record<string, string>, search: string, body: unknown): ProviderRequest {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return new ProviderRequest({ method, urls: () => [], headers, search, body: bytes });
}

const options = (more: Partial<HandshakeOptions> = {}): HandshakeOptions => ({
  verified: true,
  secrets: [SECRET],
  settings: { verify_token: TOKEN },
  fetchDocument: async () => '',
  ...more,
});

/** A preset with one handshake. */
const presetWith = (handshake: object): Preset => ({
  ...(presetOf('hmac') as Preset),
  handshakes: [handshakeSchema.parse(handshake)],
});

describe('Handshakes that confirm a URL', () => {
  const preset = presetWith({
    when: [{ at: 'body:type', equals: 'confirm' }],
    verified: true,
    response: { body: 'confirmed' },
    confirm: { at: 'body:url', hosts: ['amazonaws.com', 'amazonaws.com.cn'] },
  });

  async function confirm(url: unknown, more: Partial<HandshakeOptions> = {}) {
    const fetched: string[] = [];
    const fetchDocument = async (wanted: string) => String(fetched.push(wanted));
    const request = requestOf('POST', {}, '', { type: 'confirm', url });
    const result = await respondToHandshake(preset, request, options({ fetchDocument, ...more }));
    return { result, fetched };
  }

  it('fetch the URL before they respond', async () => {
    for (const host of ['sns.eu-west-1.amazonaws.com', 'amazonaws.com', 'sns.cn-north-1.amazonaws.com.cn']) {
      const { result, fetched } = await confirm(`https://${host}/?Action=ConfirmSubscription&Token=1`);
      expect(fetched).to.deep.equal([`https://${host}/?Action=ConfirmSubscription&Token=1`]);
      expect(result).to.include({ status: 200, body: 'confirmed' });
    }
  });

  const untrusted: [string, unknown][] = [
    ['another host', 'https://example.com/'],
    ['a host that ends alike', 'https://evilamazonaws.com/'],
    ['a host that goes on', 'https://amazonaws.com.example.com/'],
    ['a user that looks like the host', 'https://amazonaws.com@example.com/'],
    ['a user', 'https://me@sns.amazonaws.com/'],
    ['a port', 'https://sns.amazonaws.com:8443/'],
    ['no HTTPS', 'http://sns.amazonaws.com/'],
    ['an address', 'https://169.254.169.254/'],
    ['no URL', 'sns.amazonaws.com'],
    ['a backslash', 'https://example.com\\.amazonaws.com/'],
    ['a list', ['https://sns.amazonaws.com/']],
    ['nothing', undefined],
  ];
  for (const [what, url] of untrusted) {
    it(`fetch nothing with ${what}`, async () => {
      const { result, fetched } = await confirm(url);
      expect(fetched).to.deep.equal([]);
      expect(result).to.include({ result: 'failed', reason: 'confirmation_untrusted' });
    });
  }

  it('fail when the URL cannot be fetched, so that the provider retries', async () => {
    const { result } = await confirm('https://sns.amazonaws.com/', {
      fetchDocument: () => Promise.reject(new Error('no')),
    });
    expect(result).to.include({ result: 'failed', reason: 'confirmation_unavailable' });
    expect(errorOf(result as Failure)).to.include({
      status: 503,
      code: 'verification_unavailable',
      retryAfterSeconds: 60,
    });
  });

  it('are only for verified requests', async () => {
    const { result, fetched } = await confirm('https://sns.amazonaws.com/', { verified: false });
    expect([result, fetched]).to.deep.equal([undefined, []]);
    const unverified = { ...preset.handshakes[0], verified: false };
    expect(handshakeSchema.safeParse(unverified).success).to.equal(false);
  });
});

describe('Responses to handshakes', () => {
  it('have no value that could inject a header', async () => {
    const preset = presetWith({
      when: [{ at: 'body:secret' }],
      verified: true,
      response: { body: '', headers: { 'X-Echo': '{body:secret}' } },
    });
    const responseTo = (secret: string) => respondToHandshake(preset, requestOf('POST', {}, '', { secret }), options());
    expect(await responseTo('abc'))
      .to.have.property('headers')
      .that.includes({ 'x-echo': 'abc' });
    for (const secret of ['a\r\nset-cookie: b', 'a\nb', 'a\u0000', 'ä'])
      expect(await responseTo(secret)).to.equal(undefined);
  });

  it('have JSON that stays valid whatever is echoed', async () => {
    const preset = presetWith({
      when: [{ at: 'body:challenge' }],
      verified: true,
      response: { type: 'application/json', body: { challenge: '{body:challenge}', kind: 1 } },
    });
    await fc.assert(
      fc.asyncProperty(fc.string({ minLength: 1, maxLength: 300, unit: anyCharacter }), async (challenge) => {
        const response = await respondToHandshake(preset, requestOf('POST', {}, '', { challenge }), options());
        expect(JSON.parse((response as HandshakeResponse).body)).to.deep.equal({ challenge, kind: 1 });
      }),
    );
  });
});

describe('Any request', () => {
  const names = [
    'hub.mode',
    'hub.verify_token',
    'hub.challenge',
    'validationToken',
    'crc_token',
    'challenge',
    'event',
    'type',
  ];
  const values = fc.oneof(
    fc.constantFrom('subscribe', 'endpoint.url_validation', 'url_verification', 'SubscriptionConfirmation', '1', ''),
    fc.string({ unit: anyCharacter, maxLength: 40 }),
    fc.string({ minLength: 2_000, maxLength: 3_000 }),
  );
  const headerNames = [
    'x-okta-verification-challenge',
    'x-hook-secret',
    'twitch-eventsub-message-type',
    'x-amz-sns-message-type',
  ];
  const bodies = fc.oneof(
    fc.dictionary(
      fc.constantFrom(...names, 'payload', 'SubscribeURL', 'plainToken'),
      fc.oneof(values, fc.object({ maxDepth: 2 })),
    ),
    fc.record({ event: values, payload: fc.record({ plainToken: values }) }),
    fc.json().map((text) => text as unknown),
    fc.string({ unit: anyCharacter }),
  );
  const requests = fc.record({
    method: fc.constantFrom('GET', 'POST', 'PUT'),
    headers: fc.dictionary(fc.constantFrom(...headerNames), values),
    query: fc.array(fc.tuple(fc.constantFrom(...names), values), { maxLength: 5 }),
    body: bodies,
    verified: fc.boolean(),
    preset: fc.constantFrom(...PRESETS.filter(({ handshakes }) => handshakes.length > 0)),
    fails: fc.boolean(),
  });

  it('gets a response, an error or nothing, but never an exception and never a secret', async () => {
    await fc.assert(
      fc.asyncProperty(requests, async ({ method, headers, query, body, verified, preset, fails }) => {
        const request = requestOf(method, headers, new URLSearchParams(query).toString(), body);
        const fetchDocument = async () => {
          if (fails) throw new Error('away');
          return '';
        };
        const made = await respondToHandshake(preset, request, options({ verified, fetchDocument }));
        expectNoSecret(made);
      }),
      { numRuns: 500 },
    );
  });

  function expectNoSecret(made: HandshakeResponse | Failure | undefined): void {
    const text = JSON.stringify(made) ?? '';
    for (const secret of [SECRET, TOKEN]) expect(text).not.to.include(secret);
    if (!made || 'result' in made) return;
    expect(made.status).to.be.within(200, 204);
    expect(made.headers['content-type']).to.match(/^(text\/plain|application\/json); charset=utf-8$/);
    expect(made.body.length).to.be.below(20_000);
    for (const value of Object.values(made.headers)) expect(value).to.match(/^[\x20-\x7e]*$/);
  }
});
