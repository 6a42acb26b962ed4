/** The apps of examples/ with every field of flow control, unchanged but for their port: each registers without problems, and the fields act. */
import { expect } from 'chai';
import {
  type ExampleLanguage,
  type HostedExample,
  hostExample,
  LANGUAGES,
  removeExamplePrograms,
} from '../support/example-programs.ts';
import { type HeldRequests, holdRequests } from '../support/held-requests.ts';
import { type Service, startService } from '../support/service.ts';

const INSTALL_MS = 900_000;

interface Run {
  function_id: string;
  status: string;
  output: unknown;
  ended_at: string | null;
}

describe('Flow control of functions in every language', () => {
  after(removeExamplePrograms);
  for (const language of LANGUAGES) describe(`in ${language.name}`, () => testLanguage(language));
});

function testLanguage(language: ExampleLanguage): void {
  let service: Service;
  let host: HostedExample;
  let held: HeldRequests;

  before(async function () {
    this.timeout(INSTALL_MS);
    service = await startService();
    host = await hostExample(language, language.flow, service.url);
    expect((await service.post('/v1/apps', { url: host.url })).status).to.equal(200);
  });
  beforeEach(async () => {
    held = await holdRequests();
  });
  afterEach(() => held.close());
  after(async () => {
    await host?.stop();
    await service?.stop();
  });

  async function send(name: string, data: object): Promise<string> {
    const { body } = await service.post('/e/key', { name, data });
    return body.ids[0];
  }

  /** The runs of an event that have ended, once there are so many. */
  async function ended(eventId: string, count = 1): Promise<Run[]> {
    const all = (runs: Run[] = []) => runs.length === count && runs.every(({ ended_at }) => ended_at);
    return (await service.waitFor(`/v1/events/${eventId}/runs`, ({ body }) => all(body.data))).body.data;
  }

  it('every field is registered without problems', async () => {
    const { body } = await service.get('/v1/functions?app=shop');
    const problems = body.data.map(({ id, problems }: { id: string; problems?: string[] }) => [id, problems ?? []]);
    expect(problems.sort()).to.deep.equal(
      'answer-question build-report call-partner charge-order import-orders index-product mail-report remind-customer reserve-stock resize-image store-clicks sync-customer warn-customer'
        .split(' ')
        .map((id) => [`shop-${id}`, []]),
    );
  });

  it('concurrency is never exceeded, and the next call starts when one ends', async () => {
    const sent = await Promise.all(Array.from({ length: 6 }, () => send('image/uploaded', { url: held.url })));
    for (let left = sent.length; left > 0; left -= 1) {
      await held.waiting(Math.min(2, left));
      held.respond();
    }
    for (const id of sent) {
      const [run] = await ended(id);
      expect([run?.status, run?.output]).to.deep.equal(['Completed', 200]);
    }
    expect(held.most).to.equal(2);
  });

  /** Sends the event. @returns its runs once it is listed, which is when its runs are decided */
  async function runsOf(name: string, data: object): Promise<Run[]> {
    const id = await send(name, data);
    await service.waitFor(`/v1/events?name=${encodeURIComponent(name)}`, ({ body }) =>
      body.data?.some((event: { internal_id: string }) => event.internal_id === id),
    );
    return (await service.get(`/v1/events/${id}/runs`)).body.data;
  }

  it('batchEvents passes a full batch as events, and an event that does not match the condition alone', async () => {
    const click = (button: string) => send('page/clicked', { page: '/tea', button });
    const alone = await click('buy');
    const sent = [await click('a'), await click('b'), await click('c')];
    expect((await ended(alone))[0]?.output).to.deep.equal({ stored: ['buy'] });
    for (const id of sent) {
      const [run] = await ended(id);
      const { stored } = (run as Run).output as { stored: string[] };
      expect(stored).to.have.members(['a', 'b', 'c']);
    }
  });

  it('rateLimit skips what exceeds it, by key', async () => {
    expect((await ended(await send('stock/low', { customer: 'ada' })))[0]?.output).to.deep.equal({ warned: 'ada' });
    expect(await runsOf('stock/low', { customer: 'ada' })).to.deep.equal([]);
    expect((await ended(await send('stock/low', { customer: 'eve' })))[0]?.output).to.deep.equal({ warned: 'eve' });
  });

  it('idempotency runs once per value', async () => {
    const [run] = await ended(await send('order/confirmed', { orderId: '7' }));
    expect(run?.output).to.deep.equal({ charged: '7' });
    expect(await runsOf('order/confirmed', { orderId: '7' })).to.deep.equal([]);
  });

  it('singleton skips while a run is active, and runs again after it', async () => {
    const data = { customer: 'ada', url: held.url };
    const first = await send('report/asked', data);
    await held.waiting(1);
    expect(await runsOf('report/asked', data)).to.deep.equal([]);
    held.respond();
    expect((await ended(first))[0]).to.include({ status: 'Completed', output: 200 });
    const next = await send('report/asked', data);
    await held.waiting(1);
    held.respond();
    expect((await ended(next))[0]).to.include({ status: 'Completed', output: 200 });
  });

  it('debounce runs once, with the latest event', async () => {
    await send('product/changed', { sku: 'tea', price: 3 });
    const last = await send('product/changed', { sku: 'tea', price: 4 });
    const [run] = await ended(last);
    expect(run?.output).to.deep.equal({ price: 4 });
  });

  it('throttle lets the burst start at once', async () => {
    for (const id of await Promise.all([1, 2, 3].map(() => send('parcel/packed', { customer: 'ada' })))) {
      expect((await ended(id))[0]).to.include({ status: 'Completed', output: 'called' });
    }
  });

  it('a run with concurrency by keys, of runs, priority or timeouts completes', async () => {
    for (const [name, output] of [
      ['customer/changed', 'synced'],
      ['orders/exported', 'imported'],
      ['question/asked', 'answered'],
    ] as const) {
      expect((await ended(await send(name, { customer: 'ada', plan: 'pro' })))[0]).to.include({ output });
    }
  });

  it('cancelOn cancels the run, and timeouts do not cancel a run that ends in time', async () => {
    const id = await send('order/placed', { orderId: '7' });
    await service.waitFor(`/v1/events/${id}/runs`, ({ body }) => body.data?.length === 2);
    const runs: { run_id: string; function_id: string }[] = (await service.get(`/v1/events/${id}/runs`)).body.data;
    const reminder = runs.find(({ function_id }) => function_id === 'shop-remind-customer');
    await service.waitFor(`/v1/runs/${reminder?.run_id}`, ({ body }) =>
      body.data.history.some(({ status }: { status: string }) => status === 'Waiting'),
    );
    await send('order/paid', { orderId: '7' });
    const statuses = (await ended(id, 2)).map(({ function_id, status }) => [function_id, status]).sort();
    expect(statuses).to.deep.equal([
      ['shop-remind-customer', 'Cancelled'],
      ['shop-reserve-stock', 'Completed'],
    ]);
  });
}
