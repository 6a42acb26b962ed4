import { expect } from 'chai';
import { itOnSingleRedis } from '../support/redis.ts';
import { type Service, startService } from '../support/service.ts';
import { bucketKey } from '../support/stored-event.ts';
import { until } from '../support/until.ts';

interface Listed {
  internal_id: string;
  received_at: string;
}

describe('GET /v1/events', () => {
  let service: Service;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  const list = async (query: string) =>
    (await service.get(`/v1/events?${query}`)).body as {
      data: Listed[];
      metadata: { fetched_at: string; cursor?: string };
    };
  const ids = (page: { data: Listed[] }) => page.data.map(({ internal_id }) => internal_id);

  async function sendMany(name: string, count: number): Promise<string[]> {
    const { body } = await service.post(
      '/e/key',
      Array.from({ length: count }, (_, n) => ({ name, data: { n } })),
    );
    await until(async () => (await list(`name=${name}&limit=100`)).data.length === count, {
      describe: `${count} events are listed`,
    });
    return body.ids;
  }

  it('lists events newest first, all or of one name', async () => {
    const a = await sendMany('list/a', 3);
    const b = await sendMany('list/b', 2);
    expect(ids(await list('name=list/a'))).to.deep.equal([...a].reverse());
    expect(ids(await list('limit=5'))).to.deep.equal([...a, ...b].reverse());
    expect((await list('limit=1')).metadata.fetched_at).to.match(/^\d{4}-\d\d-\d\dT/);
  });

  it('lists each event once in pages by cursor while others arrive', async () => {
    const sent = await sendMany('paged/x', 25);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await list(`name=paged/x&limit=7${cursor ? `&cursor=${cursor}` : ''}`);
      seen.push(...ids(page));
      cursor = page.metadata.cursor;
      await service.post('/e/key', { name: 'paged/x', data: {} });
    } while (cursor);
    expect(seen).to.deep.equal([...sent].reverse());
  });

  it('lists events received in a time range', async () => {
    await sendMany('span/x', 1);
    const [event] = (await list('name=span/x')).data as [Listed];
    const at = event.received_at;
    const later = new Date(Date.parse(at) + 1).toISOString();
    expect(ids(await list(`name=span/x&received_after=${at}`))).to.deep.equal([event.internal_id]);
    expect(ids(await list(`name=span/x&received_after=${later}`))).to.deep.equal([]);
    expect(ids(await list(`name=span/x&received_before=${at}`))).to.deep.equal([]);
    expect(ids(await list(`name=span/x&received_before=${Date.parse(later)}`))).to.deep.equal([event.internal_id]);
  });

  it('names the invalid parameter', async () => {
    for (const [query, field] of [
      ['limit=0', 'limit'],
      ['limit=x', 'limit'],
      ['limit=101', 'limit'],
      ['received_after=yesterday', 'received_after'],
      ['cursor=xyz', 'cursor'],
    ]) {
      const { status, body } = await service.get(`/v1/events?${query}`);
      expect(status, query).to.equal(400);
      expect(body, query).to.include({ code: 'input_invalid', field });
    }
  });

  it('responds with 404 for an unknown event or run', async () => {
    for (const path of ['/v1/events/nope', '/v1/events/nope/runs', '/v1/runs/nope', '/v1/nope']) {
      const { status, body } = await service.get(path);
      expect([status, body.code], path).to.deep.equal([404, 'not_found']);
    }
  });

  itOnSingleRedis(
    'drops events after the retention: records expire, and indexes are trimmed when they grow',
    async () => {
      const day = 86_400_000;
      const [old] = await sendMany('kept/x', 1);
      const slack = 3_600_000;
      const index = `${service.prefix}:events:production:kept/x`;
      const minutes = `${service.prefix}:event-minutes:production`;
      expect(await service.redis.pttl(bucketKey(service, old as string))).to.be.within(
        7 * day + slack - 60_000,
        7 * day + slack,
      );
      for (const key of [index, minutes]) {
        expect(await service.redis.pttl(key)).to.be.within(7 * day - 60_000, 7 * day);
        await service.redis.zadd(key, Date.now() - 8 * day, 'OLD');
      }
      for (const minute of await service.redis.zrange(minutes, 1, '-1')) {
        const bucket = `${service.prefix}:events-by-minute:production:${minute}`;
        expect(await service.redis.pexpiretime(bucket)).to.equal(Number(minute) + 60_000 + 7 * day);
      }
      expect(ids(await list('name=kept/x'))).to.deep.equal([old]);
      await service.post('/e/key', { name: 'kept/x', data: {} });
      await until(async () => (await service.redis.zscore(index, 'OLD')) === null, { describe: 'the list is cut' });
      expect(await service.redis.zscore(minutes, 'OLD')).to.equal(null);
    },
  );

  it('is described as OpenAPI 3.1 and as a page', async () => {
    const { body } = await service.get('/openapi.json');
    expect(body.openapi).to.equal('3.1.0');
    expect(body.paths).to.include.keys(
      '/e/{key}',
      '/v1/events',
      '/v1/events/{id}',
      '/v1/webhooks/{id}',
      '/v1/transforms/test',
    );
    const page = await fetch(`${service.url}/docs`);
    expect(page.headers.get('content-type')).to.include('text/html');
    expect(await page.text()).to.include('/v1/events/{id}/runs');
  });
});
