import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { violationsInSchemes } from '../support/axe.ts';
import { browserForSuite, open } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';

const PHONE = { width: 390, height: 844 };
const KEY = 'event.data.customer';

describe('Limits in the dashboard', () => {
  const withPage = browserForSuite({ onePage: true });
  let service: Service;
  let host: AppHost;
  let runs: string[];
  let respond: () => void;
  before(async () => {
    service = await startService();
    host = await startAppHost();
    const mayRespond = new Promise<void>((resolve) => {
      respond = resolve;
    });
    host.on('pay', async () => {
      await mayRespond;
      return {};
    });
    const triggers = [{ event: 'order/paid' }];
    const pay = { id: 'pay', triggers, concurrency: [{ limit: 1, key: KEY }, { limit: 4 }] };
    const ship = { id: 'ship', triggers: [{ event: 'order/shipped' }], throttle: { limit: 1, period: '1h' } };
    const rest = {
      id: 'rest',
      triggers: [{ event: 'never/sent' }],
      rateLimit: { limit: 3, period: '10m', key: KEY },
      debounce: { period: '30s', timeout: '5m' },
      singleton: { mode: 'skip' },
      priority: { run: 'event.data.urgent ? 60 : 0' },
      timeouts: { start: '1h' },
    };
    const order = { key: KEY, by: 'event.data.at', onFailure: 'park' };
    const sync = { id: 'sync', retries: 0, triggers: [{ event: 'order/synced' }], order };
    host.on('sync', ({ body }) =>
      body.event.data.fails ? { status: 400, body: { name: 'Error', message: 'no' } } : {},
    );
    await host.register(service, [pay, ship, rest, sync], { appName: 'shop' });
    const customer = `a${'-long'.repeat(20)}`;
    runs = [];
    // One after the other: their order decides who waits.
    for (let n = 0; n < 3; n++) runs.push(await runOf({ name: 'order/paid', data: { customer } }));
    await host.nextCall('pay');
  });
  after(async () => {
    respond();
    await host.close();
    await service.stop();
  });

  async function runOf(event: object): Promise<string> {
    const { body } = await service.post(service.eventPath, event);
    const path = `/v1/events/${body.ids[0]}/runs`;
    const found = await service.waitFor(path, (response) => response.body.data?.length === 1);
    return found.body.data[0].run_id;
  }

  const overflow = (page: Page) => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');

  it('the run page says which limit holds the run back, who holds it, and the position of the run', () =>
    withPage(
      async (page) => {
        await open(page, `${service.url}/runs/${runs[2]}`);
        await page.getByText(/Waits for the concurrency limit of 1 for event\.data\.customer = "a-long/).waitFor();
        await page.getByText('2nd in line').waitFor();
        expect(await overflow(page)).to.equal(0);
        expect(await violationsInSchemes(page)).to.deep.equal([]);
        await page.getByRole('link', { name: (runs[0] as string).slice(0, 6) }).click();
        await page.waitForURL(`**/runs/${runs[0]}`);
      },
      { viewport: PHONE },
    ));

  it('the run page says when a throttled run may start', () =>
    withPage(async (page) => {
      await runOf({ name: 'order/shipped', data: {} });
      const second = await runOf({ name: 'order/shipped', data: {} });
      await open(page, `${service.url}/runs/${second}`);
      await page.getByText(/Waits for the throttle; 1st in line; may start in (59|60) min\./).waitFor();
    }));

  it('the function page describes its flow control', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/functions/shop-rest`);
      for (const text of [
        'At most 3 runs in 10m; other events are skipped; for each event.data.customer',
        'Runs on the last event once none has come for 30s, at most 5m after the first',
        'One run at a time; meanwhile other events are skipped',
        'Seconds by which a run starts earlier: event.data.urgent ? 60 : 0',
        'A run that has not started after 1h is cancelled',
      ]) {
        await page.getByText(text).first().waitFor();
      }
    }));

  it('the function page lists lanes that failed runs stop, and lets them go on', () =>
    withPage(
      async (page) => {
        await runOf({ name: 'order/synced', data: { customer: 'c1', at: 1, fails: true } });
        await service.waitFor('/v1/functions/shop-sync/lanes?stopped=true', ({ body }) => body.data.length === 1);
        await service.post(service.eventPath, { name: 'order/synced', data: { customer: 'c1', at: 2 } });
        await service.waitFor('/v1/functions/shop-sync/lanes', ({ body }) => body.data[0]?.waiting === 1);
        await open(page, `${service.url}/functions/shop-sync`);
        await page.getByText('Events run one after another; for each event.data.customer').first().waitFor();
        const lane = page.getByRole('list', { name: 'Lanes' }).getByRole('listitem');
        await lane.getByText('Stopped by a failed run').waitFor();
        await lane.getByText('1 event waits').waitFor();
        expect(await overflow(page)).to.equal(0);
        expect(await violationsInSchemes(page)).to.deep.equal([]);
        await lane.getByRole('button', { name: 'Skip' }).click();
        await page.getByText('The lane goes on').waitFor();
        await service.waitFor('/v1/functions/shop-sync/lanes', ({ body }) => body.data.length === 0);
      },
      { viewport: PHONE },
    ));

  it('the settings of a webhook have its order, which is one checkbox where the provider says it', () =>
    withPage(async (page) => {
      const { body } = await service.post('/v1/webhooks', { name: 'Stripe', provider: 'stripe', verify: false });
      const path = `/v1/webhooks/${body.data.id}`;
      await open(page, `${service.url}/webhooks/${body.data.id}?tab=settings`);
      await page.getByRole('checkbox', { name: 'In order, drop stale events' }).click();
      await page.getByText('Order saved').waitFor();
      const saved = await service.waitFor(path, (reply) => reply.body.data.order !== null);
      expect(saved.body.data.order).to.include({ key: 'request.body.data.object.id', on_stale: 'skip' });
      await page.getByLabel('In the order of').fill('event.ts');
      await page.getByRole('button', { name: 'Save order' }).click();
      await service.waitFor(path, (reply) => reply.body.data.order.by === 'event.ts');
    }));

  it('the function page shows the use of each limit and the longest backlogs, live', () =>
    withPage(
      async (page) => {
        await open(page, `${service.url}/functions/shop-pay`);
        const limits = page.getByRole('list', { name: 'Limits' });
        await limits.getByText('1 of 4').waitFor();
        await limits.getByText('up to 1').waitFor();
        await page.getByText('2 calls wait').waitFor();
        const backlog = page.getByRole('table', { name: 'Longest backlogs' }).getByRole('row').nth(1);
        await backlog.getByText(/event\.data\.customer = "a-long/).waitFor();
        await backlog.getByRole('cell', { name: '2', exact: true }).waitFor();
        expect(await overflow(page)).to.equal(0);
        expect(await violationsInSchemes(page)).to.deep.equal([]);
        respond();
        await page.getByText('No calls wait').waitFor();
        await limits.getByText('0 of 4').waitFor();
      },
      { viewport: PHONE },
    ));
});
