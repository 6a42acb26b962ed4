import { expect } from 'chai';
import { PRESETS } from '../../src/providers/catalog.ts';
import { type Service, startService } from '../support/service.ts';

const HMAC = {
  scheme: 'hmac',
  algorithm: 'sha256',
  encoding: 'hex',
  signature: { at: 'header:x-signature' },
  signed: '{body}',
};
const PLAIN = 'const transform = () => null';

describe('The API of webhooks with a provider', () => {
  let service: Service;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  const create = (fields: object) => service.post('/v1/webhooks', { name: 'provider', transform: PLAIN, ...fields });
  const made = async (fields: object) => {
    const { status, body } = await create(fields);
    expect(status, JSON.stringify(body)).to.equal(201);
    return body.data;
  };
  const patch = (id: string, fields: object) => service.request('PATCH', `/v1/webhooks/${id}`, fields);
  const read = async (id: string) => (await service.get(`/v1/webhooks/${id}`)).body.data;

  const invalid: [title: string, fields: object, field: string, parts: string[]][] = [
    ['an unknown provider', { provider: 'strpe' }, 'provider', ['got the string "strpe"', 'did you mean "stripe"?']],
    ['secrets without a provider', { secrets: ['s3cret'] }, 'secrets', ['expected none', 'set "provider" too']],
    ['a verification without a provider', { verification: HMAC }, 'verification', ['expected none']],
    ['settings without a provider', { settings: { a: 'b' } }, 'settings', ['expected none']],
    [
      'a secret of another kind',
      { provider: 'stripe', secrets: ['sk_live_secret'] },
      'secrets',
      ['got 14 characters that are no such secret', 'expected the Signing secret of Stripe'],
    ],
    [
      'three secrets',
      { provider: 'stripe', secrets: ['whsec_1', 'whsec_2', 'whsec_3'] },
      'secrets',
      ['got an array', '2'],
    ],
    ['a secret that is no list', { provider: 'stripe', secrets: 'whsec_s3cret' }, 'secrets', ['a string of 12 char']],
    ['an empty secret', { provider: 'stripe', secrets: [' \n'] }, 'secrets.0', ['a string of 2 characters']],
    [
      'a verification for a provider that has its own',
      { provider: 'stripe', verification: HMAC },
      'verification',
      ['the provider Stripe has its own'],
    ],
    ['no verification for a generic provider', { provider: 'hmac' }, 'verification', ['got nothing', '"hmac"']],
    [
      'a verification of another scheme',
      { provider: 'hmac', verification: { scheme: 'basic' } },
      'verification',
      ['got the scheme "basic"', '"hmac"'],
    ],
    [
      'an unknown setting',
      { provider: 'stripe', settings: { account: 'a' } },
      'settings.account',
      ['got an unknown setting', 'Stripe has no settings'],
    ],
    ['a filter that is no CEL', { filter: 'body.type ==' }, 'filter', ['got the string "body.type =="', 'CEL']],
    ['a filter over an event', { filter: 'event.name == "a"' }, 'filter', ['CEL expression']],
    ['an unknown method', { methods: ['HEAD'] }, 'methods.0', ['got the string "HEAD"', '"GET"']],
    ['no method', { methods: [] }, 'methods', ['got an array']],
    ['a size limit of nothing', { max_body_bytes: 0 }, 'max_body_bytes', ['got the number 0']],
    ['a size limit above every other', { max_body_bytes: 17_000_000 }, 'max_body_bytes', ['got the number 17000000']],
    ['a switch that is none', { deduplicate: 'no' }, 'deduplicate', ['got the string "no"', 'true or false']],
  ];
  for (const [title, fields, field, parts] of invalid) {
    it(`POST and PATCH /v1/webhooks reject ${title}, and name the field`, async () => {
      const webhook = await made({});
      for (const { status, body } of [await create(fields), await patch(webhook.id, fields)]) {
        expect([status, body.code, body.field]).to.deep.equal([400, 'input_invalid', field]);
        for (const part of parts) expect(body.error).to.include(part);
        expect(body.error).to.include(`field "${field}": got`);
        expect(JSON.stringify(body)).not.to.match(/s3cret|sk_live|whsec_\d/);
      }
      expect(await read(webhook.id)).to.deep.include({ version: 1, provider: null, secrets: [] });
    });
  }

  for (const preset of PRESETS) {
    it(`no response to a wrong secret for ${preset.id} contains the secret`, async () => {
      const secret = 'wrong\u0001-but-s3cret';
      const { customScheme: scheme, settings } = preset;
      const given = Object.fromEntries(settings.map(({ name }) => [name, 'https://127.0.0.1/none']));
      const token = { at: 'header:x-token' };
      const custom = { hmac: HMAC, token: { scheme, token }, jwt: { scheme, token, algorithms: ['RS256'] } };
      const { body } = await create({
        provider: preset.id,
        secrets: [secret],
        settings: given,
        ...(scheme && { verification: custom[scheme] }),
      });
      expect(JSON.stringify(body)).not.to.include('s3cret');
    });
  }

  it('a pasted secret is trimmed', async () => {
    const { id } = await made({ provider: 'stripe', secrets: ['  whsec_pasted\r\n'] });
    const { status } = await service.post(`/v1/webhooks/${id}/secrets`, { secret: '\twhsec_next \n' });
    expect(status).to.equal(200);
  });

  it('a webhook with a provider can be created without a secret, and rejects every request until it has one', async () => {
    const { id, url, verify, secrets } = await made({ provider: 'stripe' });
    expect({ verify, secrets }).to.deep.equal({ verify: true, secrets: [] });
    const { status, body } = await service.post(new URL(url).pathname, {});
    expect([status, body.code, body.reason]).to.deep.equal([401, 'verification_failed', 'secret_missing']);
    expect((await patch(id, { secrets: ['whsec_first'] })).body.data.secrets).to.have.length(1);
  });

  it('no response, list or audit entry contains a secret', async () => {
    const secret = 'whsec_never_shown';
    const { id } = await made({ provider: 'stripe', secrets: [secret] });
    await patch(id, { secrets: [secret] });
    await service.post(`/v1/webhooks/${id}/secrets`, { secret });
    const paths = [`/v1/webhooks/${id}`, '/v1/webhooks', '/v1/audit'];
    const responses = await Promise.all(paths.map((path) => service.get(path)));
    for (const { status, body } of responses) {
      expect(status).to.equal(200);
      expect(JSON.stringify(body)).not.to.include('never_shown');
    }
    const stored = await service.redis.hget(`${service.prefix}:webhooks`, id);
    expect(stored).not.to.include('never_shown');
  });

  it('a change of provider drops the secrets, settings and scheme of the previous one', async () => {
    const { id } = await made({ provider: 'hmac', verification: HMAC, secrets: ['shared'] });
    const { status, body } = await patch(id, { provider: 'stripe' });
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(body.data).to.deep.include({ provider: 'stripe', secrets: [], verification: null, settings: {} });
    const again = await patch(id, { provider: 'hmac', verification: HMAC, secrets: ['new'] });
    expect(again.body.data.secrets).to.have.length(1);
    const none = await patch(id, { provider: null });
    expect(none.body.data).to.deep.include({ provider: null, secrets: [], verification: null, verify: false });
  });

  it('secrets are kept when other fields change', async () => {
    const { id, secrets } = await made({ provider: 'stripe', secrets: ['whsec_stays'] });
    const { body } = await patch(id, { provider: 'stripe', name: 'renamed', filter: 'method == "POST"' });
    expect(body.data.secrets).to.deep.equal(secrets);
  });

  it('a scheme that does not fit the present secrets is rejected', async () => {
    const { id } = await made({ provider: 'hmac', verification: HMAC, secrets: ['not hexadecimal'] });
    const verification = { ...HMAC, key: { encoding: 'hex' } };
    const { status, body } = await patch(id, { verification });
    expect([status, body.field]).to.deep.equal([400, 'verification']);
    expect(body.error).to.include('the present secrets do not fit').and.not.to.include('not hexadecimal');
    expect((await patch(id, { verification, secrets: ['c0ffee'] })).status).to.equal(200);
  });

  it('the secret of a webhook without a provider cannot be rotated', async () => {
    const { id } = await made({});
    const { status, body } = await service.post(`/v1/webhooks/${id}/secrets`, { secret: 'none' });
    expect([status, body.code, body.field]).to.deep.equal([400, 'input_invalid', 'secret']);
  });

  it('concurrent changes are not lost', async () => {
    const { id, url } = await made({ provider: 'stripe', secrets: ['whsec_old'] });
    const responses = await Promise.all([
      patch(id, { filter: 'method == "POST"' }),
      patch(id, { max_body_bytes: 5_000 }),
      patch(id, { name: 'all of them' }),
      patch(id, { methods: ['POST', 'PUT'] }),
      service.post(`/v1/webhooks/${id}/secrets`, { secret: 'whsec_new' }),
      service.post(`/v1/webhooks/${id}/pause`, {}),
      service.post(`/v1/webhooks/${id}/rotate`, {}),
    ]);
    expect(responses.map(({ status }) => status)).to.deep.equal(responses.map(() => 200));
    const webhook = await read(id);
    expect(webhook).to.deep.include({ name: 'all of them', filter: 'method == "POST"', max_body_bytes: 5_000 });
    expect(webhook.methods).to.deep.equal(['POST', 'PUT']);
    expect(webhook.secrets).to.have.length(2);
    expect(webhook.paused_at).to.be.a('string');
    expect(webhook.former_urls.map((former: { url: string }) => former.url)).to.deep.equal([url]);
    expect(webhook.version).to.equal(4);
  });

  it('changes of a deleted webhook get 404, and restore no part of it', async () => {
    const { id } = await made({ provider: 'stripe', secrets: ['whsec_old'] });
    await service.request('DELETE', `/v1/webhooks/${id}`);
    const responses = await Promise.all([
      patch(id, { name: 'gone' }),
      service.post(`/v1/webhooks/${id}/secrets`, { secret: 'whsec_new' }),
      service.post(`/v1/webhooks/${id}/rotate`, {}),
      service.post(`/v1/webhooks/${id}/resume`, {}),
    ]);
    expect(responses.map(({ status }) => status)).to.deep.equal([404, 404, 404, 404]);
    expect(await service.redis.hexists(`${service.prefix}:webhooks`, id)).to.equal(0);
    expect(Object.values(await service.redis.hgetall(`${service.prefix}:webhook-keys`))).not.to.include(id);
  });
});
