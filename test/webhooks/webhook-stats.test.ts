import { expect } from 'chai';
import { request } from '../support/http.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const TRANSFORM = `function transform(evt) {
  if (evt.throws) throw new Error('cannot');
  return { name: 'stats/x', data: {} };
}`;

interface Stats {
  webhook_id: string;
  last_request_at: string | null;
  requests: number;
  rejected: number;
  filtered: number;
  unverified: number;
}

describe('Statistics of webhooks', () => {
  let service: Service;
  before(async () => {
    service = await startService({ env: { WEBHOOK_LOG_SIZE: '4' } });
  });
  after(() => service.stop());

  const make = async (fields: object = {}) =>
    (await service.post('/v1/webhooks', { name: 'stats', transform: TRANSFORM, ...fields })).body.data as {
      id: string;
      url: string;
    };
  const deliver = (url: string, ...bodies: object[]) =>
    bodies.reduce<Promise<unknown>>(
      (before, body) => before.then(() => request('POST', url, { body })),
      Promise.resolve(),
    );
  const statsOf = async (id: string, wished: (stats: Stats) => boolean): Promise<Stats> => {
    const find = (data: Stats[]) => data.find(({ webhook_id }) => webhook_id === id) as Stats;
    const { body } = await service.waitFor('/v1/webhooks/stats', (response) => wished(find(response.body.data)));
    return find(body.data);
  };

  it('GET /v1/webhooks/stats lists a new webhook with zero requests', async () => {
    const { id } = await make();
    expect(await statsOf(id, Boolean)).to.deep.equal({
      webhook_id: id,
      last_request_at: null,
      requests: 0,
      rejected: 0,
      filtered: 0,
      unverified: 0,
    });
  });

  it('GET /v1/webhooks/stats counts requests and rejected ones and shows the time of the last', async () => {
    const { id, url } = await make();
    await deliver(url, {}, { throws: true }, {});
    const { rejected, last_request_at } = await statsOf(id, ({ requests }) => requests === 3);
    expect(rejected).to.equal(1);
    expect(Date.parse(last_request_at ?? '')).to.be.closeTo(Date.now(), 10_000);
  });

  it('GET /v1/webhooks/stats counts requests that the filter dropped, and requests that failed verification', async () => {
    const { id, url } = await make({ filter: 'body.kind == "kept"' });
    await deliver(url, {}, { kind: 'kept' }, { kind: 'other' });
    expect(await statsOf(id, ({ requests }) => requests === 3)).to.include({ rejected: 0, filtered: 2, unverified: 0 });
    const forged = await make({ provider: 'stripe', secrets: ['whsec_stats'] });
    await deliver(forged.url, {}, {});
    const counts = await statsOf(forged.id, ({ requests }) => requests === 2);
    expect(counts).to.include({ rejected: 2, filtered: 0, unverified: 2 });
  });

  it('GET /v1/webhooks/stats counts what the request log keeps', async () => {
    const { id, url } = await make();
    await deliver(url, { throws: true }, { throws: true }, {}, {}, {});
    // Of five, when the last has come.
    const isLast = ({ body: { data } }: { body: { data: { status: number }[] } }) =>
      data[3]?.status === 400 && data[2]?.status !== 400;
    const entries = await service.waitFor(`/v1/webhooks/${id}/requests`, isLast);
    expect(entries.body.data).to.have.length(4);
    expect(await statsOf(id, Boolean)).to.include({ requests: 4, rejected: 1 });
    await deliver(url, {}, {});
    await statsOf(id, ({ requests, rejected }) => requests === 4 && rejected === 0);
  });

  it('GET /v1/webhooks/stats drops a deleted webhook', async () => {
    const { id, url } = await make();
    await deliver(url, { throws: true });
    await statsOf(id, ({ rejected }) => rejected === 1);
    const keys = () => service.redis.keys(`${service.prefix}:webhook*${id}*`);
    // Web writes it now and then. Written after the deletion, it would be there until it expires.
    await until(async () => (await keys()).some((key) => key.includes('webhook-traffic')), { describe: 'its traffic' });
    await service.request('DELETE', `/v1/webhooks/${id}`);
    expect(await keys()).to.deep.equal([]);
  });
});
