import { expect } from 'chai';
import { type Service, startService } from '../support/service.ts';

const KEY = 'test-event-key-0123456789';
const EVENT = { name: 'answer/x', data: {} };
const FOR_PAGES = [
  'content-security-policy',
  'cross-origin-opener-policy',
  'cross-origin-resource-policy',
  'referrer-policy',
  'x-frame-options',
];

describe('The answer to a sender', () => {
  let service: Service;
  before(async () => {
    service = await startService({ dev: false, workers: 0 });
  });
  after(() => service.stop());

  for (const [what, path] of [
    ['the fast path', `/e/${KEY}`],
    ['a path with a slash at its end', `/e/${KEY}/`],
    ['a path in capitals', `/E/${KEY}`],
    ['a path with escaped characters', `/e/%74${KEY.slice(1)}`],
    ['a path with a query', `/e/${KEY}?x=1`],
  ] as const) {
    it(`is the same for ${what}`, async () => {
      const { status, headers, body } = await service.post(path, EVENT);
      expect(status).to.equal(200);
      expect(body).to.have.all.keys('ids', 'status');
      expect(body.ids).to.have.length(1);
      expect(headers.get('content-type')).to.equal('application/json; charset=utf-8');
      expect(headers.get('cache-control')).to.equal('no-store');
      expect(headers.get('x-content-type-options')).to.equal('nosniff');
      expect(headers.get('x-request-id')).to.match(/^[0-9A-Z]{26}$/);
    });
  }

  it('has no headers for pages when the events are accepted, and has them when they are rejected', async () => {
    const accepted = await service.post(`/e/${KEY}`, EVENT);
    for (const name of FOR_PAGES) expect(accepted.headers.get(name), name).to.equal(null);
    const rejected = await service.post(`/e/${KEY}`, { name: '' });
    expect(rejected.status).to.equal(400);
    for (const name of FOR_PAGES) expect(rejected.headers.get(name), name).to.be.a('string');
    expect(rejected.headers.get('x-request-id')).to.match(/^[0-9A-Z]{26}$/);
  });

  it('rejects a query of too many fields on every path', async () => {
    const query = `?${'a=1&'.repeat(1_001)}`;
    for (const path of [`/e/${KEY}`, `/e/${KEY}/`]) {
      const { status, body } = await service.post(path + query, EVENT);
      expect([status, body.code], path).to.deep.equal([400, 'too_many_fields']);
    }
  });
});
