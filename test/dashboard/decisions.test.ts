import { ulid } from 'ulid';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { browserForSuite, open } from '../support/browser.ts';
import { type OwnStore, openStore } from '../support/own-store.ts';
import { type Service, startService } from '../support/service.ts';
import { send } from './fixtures.ts';

describe('Decisions in the dashboard', () => {
  const withPage = browserForSuite({ onePage: true });
  let service: Service;
  let host: AppHost;
  let store: OwnStore;
  before(async () => {
    service = await startService();
    host = await startAppHost();
    store = await openStore(service.prefix);
    const event = 'order/placed';
    await host.register(
      service,
      [
        { id: 'confirm', triggers: [{ event }] },
        { id: 'approve', triggers: [{ event, expression: 'event.data.total > 1000' }] },
        { id: 'remind', triggers: [{ event }] },
        { id: 'report', triggers: [{ event, expression: 'event.data.report' }] },
      ],
      { appName: 'shop' },
    );
    await service.post('/v1/functions/shop-remind/pause');
  });
  after(async () => {
    await service.stop();
    await store.close();
    await host.close();
  });

  it('the event page says whether each function ran, or why not, and follows changes', () =>
    withPage(async (page) => {
      const id = await send(service, { name: 'order/placed', data: { total: 12 } });
      await host.nextCall('confirm');
      const add = (more: object) =>
        store.decisions.add(
          [{ env: 'production', eventId: id, functionId: 'shop-report', reason: 'debounced', ...more }],
          Date.now(),
        );
      await add({});
      await open(page, `${service.url}/events/${id}?tab=decisions`);
      const entry = (name: string) =>
        page.getByRole('list', { name: 'Decisions' }).locator('> li').filter({ hasText: name });
      await entry('shop-confirm').getByText('The event started a run.').waitFor();
      await entry('shop-approve').getByText('The expression of its trigger is false.').waitFor();
      await entry('shop-approve').getByText('event.data.total is 12').waitFor();
      await entry('shop-remind').getByText('The function was paused.').waitFor();
      await entry('shop-report').getByText('Debounced: the run has not started yet.').waitFor();
      const runId = ulid();
      await add({ runId });
      await entry('shop-report')
        .getByRole('link', { name: `Run …${runId.slice(-6)}` })
        .waitFor();
      await entry('shop-confirm').getByRole('link', { name: /Run/ }).click();
      await page.waitForURL('**/runs/*');
    }));

  it('the event page of an event without runs links to the reasons', () =>
    withPage(async (page) => {
      const id = await send(service, { name: 'nobody/listens', data: {} });
      await service.stored(id);
      await open(page, `${service.url}/events/${id}?tab=runs`);
      await page.getByRole('link', { name: 'See why' }).click();
      await page.getByText('No function listens').waitFor();
    }));
});
