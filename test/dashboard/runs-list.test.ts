import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { browserForSuite, open } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';
import { expectAccessible, onPhone } from './accessible.ts';

const NAME = 'Charge the card of a customer who has ordered a kettle';
const FINAL = { status: 400, headers: { 'x-service-no-retry': 'true' }, body: { name: 'Error', message: 'no' } };

describe('The list of runs in the dashboard', function () {
  this.timeout(90_000);
  const withPage = browserForSuite({ onePage: true });
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService();
    host = await startAppHost();
    host.on('charge', () => FINAL);
    host.on('handler', () => ({}));
    const charge = { id: 'charge', name: NAME, triggers: [{ event: 'shop/charge' }], retries: 0 };
    const handler = { id: 'handler', name: 'Failure of charge', triggers: [{ event: 'inngest/function.failed' }] };
    await host.register(service, [charge, handler], { appName: 'shop' });
    await service.post('/e/key', { name: 'shop/charge', data: { card: 42 } });
    await service.waitFor('/v1/runs?function_id=shop-handler&status=Completed', ({ body }) => body.data.length === 1);
  });
  after(async () => {
    await service.stop();
    await host.close();
  });

  it('leaves out schedules and failure handlers, until a switch lists them', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/runs`);
      const runs = page.getByRole('table', { name: 'Runs' });
      await runs.getByRole('link', { name: NAME }).waitFor();
      expect(await runs.getByRole('link', { name: 'Failure of charge' }).count()).to.equal(0);
      await page.getByLabel('Schedules and failure handlers').check();
      await page.waitForURL('**/runs?all=true');
      await runs.getByRole('link', { name: 'Failure of charge' }).waitFor();
      await page.getByLabel('Schedules and failure handlers').uncheck();
      await service.post('/e/key', { name: 'shop/charge', data: { card: 43 } });
      await runs.getByText('card: 43').waitFor();
      await service.waitFor('/v1/runs?function_id=shop-handler&status=Completed', ({ body }) => body.data.length === 2);
      expect(await runs.getByRole('link', { name: 'Failure of charge' }).count()).to.equal(0);
    }));

  it('has a histogram, in which dragging selects a time range', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/runs?status=Failed`);
      const chart = page.getByRole('figure', { name: 'Runs queued over time' });
      await chart.getByText(/^\d+ runs? queued in the last 24 hours$/).waitFor();
      const box = await chart.locator('svg').first().boundingBox();
      if (!box) throw new Error('the chart is not there');
      await page.mouse.move(box.x + 10, box.y + 10);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width / 2, box.y + 10, { steps: 4 });
      await page.mouse.up();
      await page.waitForURL('**/runs?status=Failed&from=*&to=*');
      await page.getByText('No results').waitFor();
      await page.goBack();
      await page.getByRole('table', { name: 'Runs' }).getByRole('link', { name: NAME }).first().waitFor();
    }));

  it('says before which time its histogram lacks archived runs', () =>
    withPage(async (page) => {
      await page.route('**/v1/runs/histogram?*', async (route) => {
        const response = await route.fetch();
        const { data, metadata } = await response.json();
        const stop = { stopped_early: 'time', stopped_at: new Date(Date.now() - 3_600_000).toISOString() };
        await route.fulfill({ response, json: { data, metadata: { ...metadata, ...stop } } });
      });
      await open(page, `${service.url}/runs?status=Failed`);
      const chart = page.getByRole('figure', { name: 'Runs queued over time' });
      await chart.getByText(/ without archived ones before /).waitFor();
      await page.unroute('**/v1/runs/histogram?*');
    }));

  it('names the app beside the function, and no column is wider than what it shows', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/runs?status=Failed`);
      const row = page.getByRole('table', { name: 'Runs' }).getByRole('row').nth(1);
      await row.getByText('shop', { exact: true }).waitFor();
      const name = row.getByRole('cell').nth(2);
      expect(await name.evaluate((cell) => cell.scrollWidth - cell.clientWidth)).to.be.within(0, 1);
      const badge = await row.getByText('Failed', { exact: true }).boundingBox();
      const cells = await row
        .getByRole('cell')
        .evaluateAll((all) => all.map((cell) => cell.getBoundingClientRect().width));
      expect((cells[1] ?? 0) - (badge?.width ?? 0)).to.be.within(0, 60);
      const lefts = (role: 'columnheader' | 'cell') =>
        page
          .getByRole(role)
          .evaluateAll((all) => all.slice(0, 4).map((item) => Math.round(item.getBoundingClientRect().left)));
      expect(await lefts('cell')).to.deep.equal(await lefts('columnheader'));
    }));

  it('on a phone has the whole name of the function, and its state', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/runs?status=Failed`);
      await onPhone(page, async () => {
        const link = page.getByRole('table', { name: 'Runs' }).getByRole('link', { name: NAME }).first();
        await link.waitFor();
        const isCut = await link.evaluate((one) => one.scrollWidth > one.clientWidth + 1);
        expect(isCut).to.equal(false);
        await page.getByRole('row').nth(1).getByText('Failed', { exact: true }).waitFor();
      });
    }));

  it('axe finds no violations in light mode, in dark mode and on a phone', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/runs?all=true`);
      await page.getByRole('table', { name: 'Runs' }).getByRole('link', { name: NAME }).first().waitFor();
      await expectAccessible(page);
    }));
});
