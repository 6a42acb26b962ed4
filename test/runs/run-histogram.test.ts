import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';

interface Bucket {
  from: string;
  to: string;
  active: number;
  completed: number;
  failed: number;
  cancelled: number;
}

const FINAL = { status: 400, headers: { 'x-service-no-retry': 'true' }, body: { name: 'Error', message: 'no' } };

describe('Runs over time', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService();
    host = await startAppHost();
    host.on('works', () => ({}));
    host.on('fails', () => FINAL);
    host.on('waits', () => ({
      status: 206,
      body: [{ id: 'a'.repeat(40), op: 'Sleep', displayName: 'nap', opts: { duration: '1d' } }],
    }));
    host.on('handler', () => ({}));
    const functions = ['works', 'fails', 'waits'].map((id) => ({
      id,
      triggers: [{ event: `shop/${id}` }],
      retries: 0,
    }));
    const handler = { id: 'handler', triggers: [{ event: 'inngest/function.failed' }] };
    const schedule = { id: 'nightly', triggers: [{ cron: '0 3 1 1 *' }] };
    await host.register(service, [...functions, handler, schedule], { appName: 'shop' });
    await service.post(
      '/e/key',
      ['works', 'works', 'fails', 'waits'].map((id) => ({ name: `shop/${id}`, data: {} })),
    );
    await service.waitFor('/v1/runs?function_id=shop-handler&status=Completed', ({ body }) => body.data.length === 1);
    await service.waitFor('/v1/runs?function_id=shop-works&status=Completed', ({ body }) => body.data.length === 2);
    await service.waitFor('/v1/runs?function_id=shop-waits&state=sleeping', ({ body }) => body.data.length === 1);
  });
  after(async () => {
    await service.stop();
    await host.close();
  });

  async function histogram(query = ''): Promise<Bucket[]> {
    return (await service.get(`/v1/runs/histogram${query}`)).body.data;
  }

  function totals(buckets: readonly Bucket[]): number[] {
    return (['active', 'completed', 'failed', 'cancelled'] as const).map((kind) =>
      buckets.reduce((sum, bucket) => sum + bucket[kind], 0),
    );
  }

  it('are counted by outcome in whole minutes, of all functions and of some', async () => {
    const all = await histogram();
    expect(all.length).to.be.within(58, 61);
    expect(totals(all)).to.deep.equal([1, 3, 1, 0]);
    for (const { from, to } of all)
      expect([Date.parse(from) % 60_000, Date.parse(to) - Date.parse(from)]).to.deep.equal([0, 1_440_000]);
    expect(totals(await histogram('?function_id=shop-works'))).to.deep.equal([0, 2, 0, 0]);
    expect(totals(await histogram('?app=shop'))).to.deep.equal([1, 3, 1, 0]);
    expect(totals(await histogram('?app=other'))).to.deep.equal([0, 0, 0, 0]);
  });

  it('are those of the time range, of at most 7 days', async () => {
    const yesterday = new Date(Date.now() - 86_400_000).toISOString();
    expect(totals(await histogram(`?queued_before=${yesterday}`))).to.deep.equal([0, 0, 0, 0]);
    const [first] = await histogram('?queued_after=2020-01-01T00:00:00Z');
    expect(Date.now() - Date.parse(first?.from ?? '')).to.be.within(604_000_000, 605_000_000);
  });

  it('of schedules and failure handlers are left out of lists, counts and actions', async () => {
    const query = '?exclude=schedules,failure_handlers';
    expect(totals(await histogram(query))).to.deep.equal([1, 2, 1, 0]);
    const listed = (await service.get(`/v1/runs${query}`)).body.data;
    expect(listed.map(({ function_id }: { function_id: string }) => function_id)).to.not.include('shop-handler');
    expect(listed).to.have.length(4);
    expect((await service.get('/v1/runs?exclude=schedules')).body.data).to.have.length(5);
    expect((await service.get(`/v1/runs/count${query}&status=Completed`)).body.data.count).to.equal(2);
    const filter = { status: ['Completed'], exclude: ['failure_handlers'] };
    const dry = await service.post('/v1/runs/bulk', { action: 'retry', filter, dry_run: true });
    expect(dry.body.data).to.deep.include({ count: 2 });
    expect(dry.body.data.filter.exclude).to.deep.equal(['failure_handlers']);
    const bad = await service.get('/v1/runs?exclude=everything');
    expect([bad.status, bad.body.code]).to.deep.equal([400, 'input_invalid']);
  });
});
