import { expect } from 'chai';
import { request } from '../support/http.ts';
import { type Service, startService } from '../support/service.ts';
import { eachCase } from './cases.ts';

interface Case {
  title: string;
  data: { raw: string; sig?: string; id?: string; timestamp?: string };
  [ofTheVerifier: string]: unknown;
}

const HANDS_ON = `function transform(evt, headers, queryParams, raw) {
  const { 'X-Sig': sig, 'X-Id': id, 'X-Timestamp': timestamp } = headers;
  return { name: 'conformance/webhook', data: { raw, sig, id, timestamp } };
}`;

describe('The service conforms: webhooks', () => {
  let service: Service;
  let url: string;
  before(async () => {
    service = await startService();
    const made = await service.post('/v1/webhooks', { name: 'conformance', transform: HANDS_ON });
    url = made.body.data.url;
  });
  after(() => service.stop());

  eachCase<Case>(
    'webhooks',
    Object.fromEntries('provider data secret options now flaw'.split(' ').map((field) => [field, true])),
    async ({ data: { raw, ...rest } }) => {
      const headers = Object.fromEntries(Object.entries(rest).map(([name, value]) => [`x-${name}`, value]));
      const { status, body } = await request('POST', url, { body: raw, headers });
      expect(status).to.equal(200);
      const path = `/v1/events/${body.ids[0]}`;
      const stored = await service.waitFor(path, (response) => response.status === 200);
      expect(stored.body.data.data).to.deep.equal({ raw, ...rest });
    },
    // HTTP headers have no other characters.
    ({ data: { raw: _, ...rest } }) => Object.values(rest).every((value) => /^[\x20-\x7e]*$/.test(value)),
  );
});
