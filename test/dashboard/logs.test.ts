/** The logs of a run, from an app with the TypeScript client to the page. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { Tidegate } from 'tidegate';
import { serve } from 'tidegate/node';
import { violations } from '../support/axe.ts';
import { browserForSuite, open } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

describe('Logs of a run in the dashboard', () => {
  const withPage = browserForSuite({ onePage: true });
  let service: Service;
  let app: Server;
  before(async () => {
    service = await startService();
    app = await startApp(service.url);
  });
  after(async () => {
    app.closeAllConnections();
    app.close();
    await service.stop();
  });

  async function runOf(name: string): Promise<string> {
    const [eventId] = (await service.post('/e/key', { name, data: {} })).body.ids;
    const { body } = await service.waitFor(`/v1/events/${eventId}/runs`, ({ body }) => body.data[0]?.ended_at);
    return body.data[0].run_id;
  }

  it('are shown under the row of their step, with level, fields and the time since it began', () =>
    withPage(async (page) => {
      const id = await runOf('order/paid');
      await service.waitFor(`/v1/runs/${id}/logs`, ({ body }) => body.data.length === 4);
      await open(page, `${service.url}/runs/${id}`);
      await page
        .getByRole('button', { name: /charge/ })
        .first()
        .click();
      const logs = page.getByRole('list', { name: 'Logs of the step' });
      await logs.getByText('charging').waitFor();
      expect(await logs.getByRole('listitem').count()).to.equal(2);
      await logs.getByText('warn', { exact: true }).waitFor();
      await logs.getByText(/^\+/).first().waitFor();
      await logs.getByRole('button', { name: '2 fields' }).click();
      await logs.getByText('"A1"').waitFor();
      expect(await violations(page)).to.deep.equal([]);
    }));

  it('outside of steps have their own section, with a filter by level and a search', () =>
    withPage(async (page) => {
      const id = await runOf('order/paid');
      await service.waitFor(`/v1/runs/${id}/logs`, ({ body }) => body.data.length === 4);
      await open(page, `${service.url}/runs/${id}`);
      const logs = page.getByRole('list', { name: 'Logs', exact: true });
      await logs.getByText('began').waitFor();
      expect(await logs.getByRole('listitem').count()).to.equal(2);
      await page.getByRole('combobox', { name: 'Level' }).selectOption('Errors');
      await logs.getByText('began').waitFor({ state: 'detached' });
      await logs.getByText('gave up').waitFor();
      await page.getByRole('combobox', { name: 'Level' }).selectOption('All levels');
      await page.getByRole('checkbox', { name: 'With those of steps' }).check();
      await page.getByRole('searchbox', { name: 'Search the logs' }).fill('a1');
      await logs.getByText('slow').waitFor();
      expect(await logs.getByRole('listitem').count()).to.equal(1);
      await page.getByRole('searchbox', { name: 'Search the logs' }).fill('nowhere');
      await page.getByText('No results').waitFor();
    }));

  it('appear on an open page, and an empty section says how to log', () =>
    withPage(async (page) => {
      const id = await runOf('order/quiet');
      await open(page, `${service.url}/runs/${id}`);
      await page.getByText("logger.info('paid', { total })").waitFor();
      expect(await violations(page)).to.deep.equal([]);
      const line = { at: Date.now(), level: 'info', message: 'came late' };
      const body = { batch: 'late', attempt: 0, lines: [line], dropped: 3 };
      expect((await service.post(`/v0/runs/${id}/logs`, body)).status).to.equal(200);
      await page.getByText('came late').waitFor();
      await page.getByText('3 more lines were left out').waitFor();
    }));
});

async function startApp(baseUrl: string): Promise<Server> {
  const client = new Tidegate({ id: 'shop', isDev: true, baseUrl, logger: SILENT });
  const pay = client.createFunction({ id: 'pay', triggers: { event: 'order/paid' } }, async ({ step, logger }) => {
    logger.info('began');
    await step.run('charge', () => {
      logger.debug('charging');
      logger.warn('slow', { ms: 1_200, card: 'A1' });
    });
    logger.error('gave up');
  });
  const quiet = client.createFunction({ id: 'quiet', triggers: { event: 'order/quiet' } }, () => 'done');
  const app = createServer(serve({ client, functions: [pay, quiet] }));
  app.listen(0, '127.0.0.1');
  await once(app, 'listening');
  const { port } = app.address() as AddressInfo;
  const { status } = await fetch(`http://127.0.0.1:${port}/api/service`, { method: 'PUT' });
  expect(status).to.equal(200);
  return app;
}
