import { expect } from 'chai';
import { request } from '../support/http.ts';
import { type Service, startService } from '../support/service.ts';

const TRANSFORM = `function transform(evt, headers, query, raw) { return { name: 'hook/x', data: { raw } }; }`;

describe('The provenance of an event', () => {
  let service: Service;
  before(async () => {
    service = await startService({ dev: false });
  });
  after(() => service.stop());

  const call = (method: string, path: string, body?: object) => service.request(method, path, body, service.apiHeaders);
  async function provenanceOf(id: string) {
    await service.stored(id);
    return (await service.get(`/v1/events/${id}/arrival`)).body.data;
  }
  const nothing = { webhook: null, request: null, event_key: null };

  it('names the webhook and shows the request with masked secrets', async () => {
    const made = await call('POST', '/v1/webhooks', { name: 'Shop', transform: TRANSFORM });
    const { id, url } = made.body.data;
    const headers = { 'x-kind': 'k', 'x-signature': 'hush' };
    const response = await request('POST', `${url}?a=1`, { body: '{"n": 1.10}', headers });
    const requestId = response.headers.get('x-request-id');
    await service.waitFor(`/v1/webhooks/${id}/requests/${requestId}`, ({ status }) => status === 200);
    const provenance = await provenanceOf(response.body.ids[0]);
    expect(provenance.webhook).to.deep.equal({ id, name: 'Shop' });
    expect(provenance.event_key).to.equal(null);
    expect(provenance.request).to.deep.include({
      id: requestId,
      query: { a: ['1'] },
      body: { encoding: 'utf8', content: '{"n": 1.10}' },
    });
    expect(provenance.request.headers).to.include({ 'x-kind': 'k', 'x-signature': '[masked]' });
    await call('DELETE', `/v1/webhooks/${id}`);
    expect(await provenanceOf(response.body.ids[0])).to.deep.equal(nothing);
  });

  it('names the event key', async () => {
    const { id, secret } = (await call('POST', '/v1/event-keys', { name: 'shop' })).body.data;
    const { body } = await service.post(`/e/${secret}`, { name: 'key/x', data: {} });
    expect(await provenanceOf(body.ids[0])).to.deep.equal({ ...nothing, event_key: { id, name: 'shop' } });
    await call('DELETE', `/v1/event-keys/${id}`);
    expect(await provenanceOf(body.ids[0])).to.deep.equal(nothing);
  });

  it('has no details for keys of the settings and manual events', async () => {
    const { body } = await service.post(service.eventPath, { name: 'key/x', data: {} });
    expect(await provenanceOf(body.ids[0])).to.deep.equal(nothing);
    const byHand = await call('POST', '/v1/events', { name: 'key/x', data: {} });
    expect(await provenanceOf(byHand.body.data.internal_id)).to.deep.equal(nothing);
  });

  it('responds with 404 for an unknown event', async () => {
    const { status, body } = await service.get('/v1/events/nope/provenance');
    expect([status, body.code]).to.deep.equal([404, 'not_found']);
  });
});
