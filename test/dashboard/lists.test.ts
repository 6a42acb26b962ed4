import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { browserForSuite, open, settled } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { make, send } from './fixtures.ts';

const LAPTOP = { viewport: { width: 1366, height: 768 } };

describe('Lists in the dashboard', () => {
  const withPage = browserForSuite({ onePage: true });
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService();
    host = await startAppHost();
    const functions = [
      { id: 'greet', name: 'Greet a customer', triggers: [{ event: 'order/*' }] },
      { id: 'fail', name: 'Charge a card', triggers: [{ event: 'card/*' }], retries: 0 },
    ];
    host.on('fail', () => ({ status: 400, body: { name: 'DeclinedError', message: 'the card was declined' } }));
    await host.register(service, functions, { appName: 'shop' });
    await send(service, { name: 'card/charge', data: { card: 'first' } });
    await service.waitFor('/v1/runs?status=Failed', ({ body }) => body.data?.length === 1);
    // Their runs may be queued in the same millisecond: then the list has them in any order.
    await send(
      service,
      Array.from({ length: 40 }, (_, n) => ({ name: 'order/paid', data: { customer: `c_${n}`, total: n } })),
    );
    await until(async () => (await service.get('/v1/runs?status=Completed&limit=100')).body.data.length === 40, {
      describe: 'all runs have ended',
    });
  });
  after(async () => {
    await service.stop();
    await host.close();
  });

  const rows = (page: Page, table: string) => page.getByRole('table', { name: table }).locator('[data-index]');
  const runRows = (page: Page) => rows(page, 'Runs');
  const eventRows = (page: Page) => rows(page, 'Events');
  const bodiesOf = (page: Page, path: string) => {
    const urls: string[] = [];
    page.on('request', (request) => void (request.url().includes(path) && urls.push(request.url())));
    return urls;
  };

  /** Rows that are wholly in the window. */
  const visibleRows = (page: Page) =>
    page.evaluate<number>(
      `[...document.querySelectorAll('[data-index]')].map((row) => row.getBoundingClientRect())
        .filter(({ top, bottom }) => top >= 0 && bottom <= innerHeight).length`,
    );

  it('a laptop screen shows at least 20 events', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/events`);
      await eventRows(page).first().waitFor();
      await page.getByRole('figure').locator('svg').waitFor();
      expect(await visibleRows(page)).to.be.at.least(20);
    }, LAPTOP));

  it('a run shows the name of its function, and the name and gist of its event instead of IDs', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/runs`);
      const row = runRows(page).first();
      await row.getByRole('link', { name: 'Greet a customer' }).waitFor();
      expect(await row.innerText()).to.match(
        /Completed\s+Greet a customer\s+shop\s+order\/paid\s+customer: "c_(\d+)", total: \1\s/,
      );
      expect(await row.innerText()).to.not.match(/[0-9A-Z]{26}/);
      await open(page, `${service.url}/events`);
      const event = eventRows(page).filter({ hasText: 'customer: "c_37", total: 37' });
      await event.getByRole('link', { name: 'Completed Greet a customer' }).waitFor();
    }, LAPTOP));

  it('a list of runs adds new runs and changes from live updates, without reading the list again', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/runs`);
      await runRows(page).first().waitFor();
      const requests = bodiesOf(page, '/v1/runs');
      for (let n = 0; n < 5; n++) {
        await send(service, { name: 'card/charge', data: { card: `visa-${n}` } });
        const row = runRows(page).filter({ hasText: `visa-${n}` });
        await row.getByText('Failed').waitFor();
        await row.getByText('DeclinedError: the card was declined').waitFor();
        await row.getByText('Charge a card').waitFor();
        expect(await runRows(page).first().innerText()).to.contain(`visa-${n}`);
      }
      // Once when the stream begins.
      expect(requests.length).to.be.at.most(1);
    }, LAPTOP));

  it('a filtered list adds only runs that match its filters, even if they match later', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/runs?status=Failed&app=shop`);
      await runRows(page).first().waitFor();
      const requests = bodiesOf(page, '/v1/runs');
      for (let n = 0; n < 5; n++) {
        await send(service, { name: 'order/paid', data: { customer: 'other' } });
        await send(service, { name: 'card/charge', data: { card: `amex-${n}` } });
        await runRows(page)
          .filter({ hasText: `amex-${n}` })
          .getByText('Failed')
          .waitFor();
      }
      expect(await runRows(page).filter({ hasText: 'other' }).count()).to.equal(0);
      expect(requests.length).to.be.at.most(1);
    }, LAPTOP));

  it('no row moves while the list is scrolled down: new runs are counted, and shown on request', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/runs`);
      await runRows(page).first().waitFor();
      await page.evaluate('scrollTo(0, 300)');
      const id = await runRows(page)
        .and(page.locator('[data-index="20"]'))
        .getByRole('link')
        .first()
        .getAttribute('href');
      const reader = runRows(page).filter({ has: page.locator(`[href="${id}"]`) });
      const before = await reader.boundingBox();
      await send(
        service,
        [1, 2, 3].map((n) => ({ name: 'order/paid', data: { customer: `late-${n}` } })),
      );
      const button = page.getByRole('button', { name: '3 new runs – show' });
      await button.waitFor();
      expect((await reader.boundingBox())?.y).to.equal(before?.y);
      expect(await runRows(page).filter({ hasText: 'late-' }).count()).to.equal(0);
      await button.click();
      await runRows(page).filter({ hasText: 'late-3' }).waitFor();
      await button.waitFor({ state: 'detached' });
    }, LAPTOP));

  it('new events that live updates do not list are counted until they are shown', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/events?name=many%2Fx`);
      await page.getByText('No results').waitFor();
      await open(page, `${service.url}/events`);
      await eventRows(page).first().waitFor();
      await send(service, Array(450).fill({ name: 'many/x', data: {} }));
      const button = page.getByRole('button', { name: /^\d+ new events – show$/ });
      await button.waitFor();
      await button.click();
      await eventRows(page).filter({ hasText: 'many/x' }).first().waitFor();
      await button.waitFor({ state: 'detached' });
    }, LAPTOP));

  it('columns and row height are chosen in a menu, and the browser remembers them', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/runs`);
      const headers = page.getByRole('columnheader');
      await runRows(page).first().waitFor();
      const compactBox = await runRows(page).first().boundingBox();
      await page.getByRole('button', { name: 'Columns' }).click();
      await page.getByLabel('Run ID').check();
      await page.getByLabel('Duration').uncheck();
      await page.getByRole('button', { name: 'Comfortable' }).click();
      await page.keyboard.press('Escape');
      await page.getByRole('columnheader', { name: 'Run ID' }).waitFor();
      const box = await runRows(page).first().boundingBox();
      expect(box?.height).to.be.above((compactBox?.height ?? 0) + 15);
      await page.reload();
      await settled(page);
      await page.getByRole('columnheader', { name: 'Run ID' }).waitFor();
      expect(await headers.allInnerTexts()).to.not.include('Duration');
    }, LAPTOP));

  it('a view is saved under a name with its filters and columns, is shared by its URL, and can be deleted', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/runs?status=Failed&columns=event,run-id&density=comfortable`);
      await page.getByRole('columnheader', { name: 'Run ID' }).waitFor();
      await page.getByRole('button', { name: 'Views' }).click();
      await page.getByText('No saved views.').waitFor();
      await page.getByLabel('Save this view as').fill('Declined cards');
      await page.keyboard.press('Enter');
      await page.getByRole('link', { name: 'Declined cards' }).waitFor();
      await open(page, `${service.url}/runs`);
      await page.getByRole('button', { name: 'Views' }).click();
      await page.getByRole('link', { name: 'Declined cards' }).click();
      await page.waitForURL((url) => url.searchParams.get('status') === 'Failed');
      await page.getByRole('columnheader', { name: 'Run ID' }).waitFor();
      const { searchParams } = new URL(page.url());
      expect(Object.fromEntries(searchParams)).to.deep.equal({
        status: 'Failed',
        columns: 'status,function,event,run-id,Actions',
        density: 'comfortable',
      });
      await page.getByRole('button', { name: 'Views' }).click();
      await page.getByRole('button', { name: 'Delete view Declined cards' }).click();
      await page.getByText('No saved views.').waitFor();
    }, LAPTOP));

  it("each chosen filter is an entry of the browser's history", () =>
    withPage(async (page) => {
      await open(page, `${service.url}/runs`);
      await page.getByRole('link', { name: 'Failed', exact: true }).click();
      await page.waitForURL('**/runs?status=Failed');
      await page.getByLabel('Function').selectOption('Charge a card');
      await page.waitForURL('**/runs?status=Failed&function=shop-fail');
      await page.goBack();
      await page.waitForURL('**/runs?status=Failed');
      await page.goBack();
      await page.waitForURL('**/runs');
      await open(page, `${service.url}/events`);
      await page.getByLabel('Source').selectOption('All webhooks');
      await page.waitForURL('**/events?source=webhook');
      await page.goBack();
      await page.waitForURL('**/events');
    }, LAPTOP));

  it('invalid values in the URL are named and left out of requests', () =>
    withPage(async (page) => {
      const requests = bodiesOf(page, '/v1/runs?');
      await page.goto(`${service.url}/runs?from=NaN&status=Sideways&to=yesterday&function=shop-greet`);
      await page.getByText('Ignored: from=NaN, status=Sideways, to=yesterday').waitFor();
      await runRows(page).first().waitFor();
      for (const url of requests) expect(url).to.not.match(/NaN|Sideways|yesterday|queued_/);
      expect(requests[0]).to.contain('function_id=shop-greet');
      await page.getByRole('button', { name: 'Dismiss' }).click();
      await page.getByText('Ignored:').waitFor({ state: 'detached' });
      const events = bodiesOf(page, '/v1/events?');
      await page.goto(`${service.url}/events?from=-5h&source=api`);
      await page.getByText('Ignored: from=-5h').waitFor();
      for (const url of events) expect(url).to.not.contain('received_after');
    }, LAPTOP));

  it('a list without results offers to clear its filters; search help has examples that apply', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/runs?function=shop-nobody`);
      await page.getByText('No results').waitFor();
      await page.getByRole('link', { name: 'Clear filters' }).click();
      await runRows(page).first().waitFor();
      await page.getByRole('button', { name: 'Search help' }).click();
      await page.getByRole('button', { name: /runs of an event/ }).click();
      await page.waitForURL((url) => url.searchParams.get('q')?.startsWith('event.name ==') ?? false);
      await open(page, `${service.url}/events?name=no%2Fsuch`);
      await page.getByText('No results').waitFor();
      await page.locator('main').getByRole('button', { name: 'Clear filters' }).last().click();
      await eventRows(page).first().waitFor();
    }, LAPTOP));

  it('the request log of a webhook has columns to choose and saved views', () =>
    withPage(async (page) => {
      const { id, url } = await make(service, '/v1/webhooks', { name: 'Orders' });
      await service.post(new URL(url).pathname, { n: 1 });
      await open(page, `${service.url}/webhooks/${id}?tab=requests`);
      await rows(page, 'Requests').first().waitFor();
      await page.getByRole('button', { name: 'Columns' }).click();
      await page.getByLabel('Body').uncheck();
      await page.getByRole('columnheader', { name: 'Body' }).waitFor({ state: 'detached' });
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Rejected' }).click();
      await page.getByText('No results').waitFor();
      await page.goBack();
      await rows(page, 'Requests').first().waitFor();
    }, LAPTOP));
});
