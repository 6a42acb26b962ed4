import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { keyHeaders } from '../support/auth.ts';
import { type RequestBody, request } from '../support/http.ts';
import { type Service, startService } from '../support/service.ts';

interface Webhook {
  id: string;
  url: string;
}

describe('Original requests of the request log', () => {
  let service: Service;
  before(async () => {
    service = await startService({ dev: false, workers: 0 });
  });
  after(() => service.stop());

  async function make(fields: object = {}): Promise<Webhook> {
    const fixed = { name: 'original', transform: 'const transform = () => null;' };
    const { status, body } = await service.post('/v1/webhooks', { ...fixed, ...fields }, service.apiHeaders);
    expect(status, JSON.stringify(body)).to.equal(201);
    return body.data;
  }

  /** Sends it, and returns what the API says came. */
  async function original(webhook: Webhook, body: RequestBody, headers: Record<string, string>, search = '') {
    const response = await request('POST', webhook.url + search, { body, headers });
    const path = `/v1/webhooks/${webhook.id}/requests/${response.headers.get('x-request-id')}/original`;
    return (await service.waitFor(path, ({ status }) => status === 200)).body.data;
  }

  const headerOf = (data: { headers: [string, string][] }, name: string) =>
    data.headers.find(([one]) => one === name)?.[1];

  it('GET …/original returns the body byte for byte, the original query string, and the signature', async () => {
    const bytes = Buffer.from([0, 255, 123, 10, 128]);
    const headers = { 'stripe-signature': 't=1,v1=abc', 'x-hub-signature-256': 'sha256=abc', 'idempotency-key': 'k-1' };
    const data = await original(await make(), bytes, headers, '?b=2&a=1&b=%20x&sig=s3');
    expect(data).to.include({
      method: 'POST',
      outcome: 'ignored',
      query_string: 'b=2&a=1&b=%20x&sig=s3',
      body: bytes.toString('base64'),
    });
    for (const [name, value] of Object.entries(headers)) expect(headerOf(data, name), name).to.equal(value);
    expect(data.withheld).to.deep.equal([]);
  });

  it('GET …/original withholds passwords, tokens and cookies, and names them', async () => {
    const secrets = { authorization: 'Basic s3cret', cookie: 'sid=s3cret', 'x-gitlab-token': 's3cret' };
    const data = await original(await make(), '{}', secrets, '?page=1&token=s3cret');
    expect(JSON.stringify(data)).not.to.include('s3cret');
    expect(data.withheld).to.have.members([...Object.keys(secrets), 'token']);
    expect(data.query_string).to.equal('page=1&token=%5Bmasked%5D');
    expect(headerOf(data, 'authorization')).to.equal('[masked]');
  });

  it('GET …/original withholds the token of a verified request, and shows the signature of another scheme in the same header', async () => {
    const token = { scheme: 'token', token: { at: 'header:x-sign' } };
    const withToken = await make({ provider: 'api-key', verification: token, secrets: ['s3cret-s3cret-s3cret'] });
    const first = await original(withToken, '{}', { 'x-sign': 's3cret-s3cret-s3cret' });
    expect(first.verification).to.include({ result: 'verified' });
    expect([headerOf(first, 'x-sign'), first.withheld]).to.deep.equal(['[masked]', ['x-sign']]);
    const secret = 'another-secret-of-the-test';
    const hmac = {
      scheme: 'hmac',
      algorithm: 'sha256',
      encoding: 'hex',
      signature: { at: 'header:authorization' },
      signed: '{body}',
    };
    const signed = await make({ provider: 'hmac', verification: hmac, secrets: [secret] });
    const signature = createHmac('sha256', secret).update('{}').digest('hex');
    const second = await original(signed, '{}', { authorization: signature });
    expect(second.verification).to.include({ result: 'verified' });
    expect([headerOf(second, 'authorization'), second.withheld]).to.deep.equal([signature, []]);
  });

  it('GET …/original needs write access', async () => {
    const { id } = await make();
    const read = await keyHeaders(service, 'read');
    const response = await service.get(`/v1/webhooks/${id}/requests/01K00000000000000000000000/original`, read);
    expect([response.status, response.body.code]).to.deep.equal([403, 'access_denied']);
  });
});
