import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { browserForSuite, open } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';

const FAILURE = {
  status: 400,
  headers: { 'x-service-no-retry': 'true' },
  body: { name: 'DeclinedError', message: 'card declined' },
};
const SLEEP = { status: 206, body: [{ id: 'a'.repeat(40), op: 'Sleep', name: '1h' }] };
/** More than a page of the list. */
const MANY = 134;

describe('Bulk actions in the dashboard', () => {
  const withPage = browserForSuite();
  let service: Service;
  let host: AppHost;
  let isBroken = true;
  before(async () => {
    service = await startService();
    host = await startAppHost();
    for (const id of ['charge', 'many']) host.on(id, () => (isBroken ? FAILURE : SLEEP));
    host.on('nap', () => SLEEP);
    host.on('late', () => FAILURE);
    const functions = ['charge', 'many', 'nap', 'late'].map((id) => ({ id, triggers: [{ event: `bulk/${id}` }] }));
    await host.register(service, functions, { appName: 'shop' });
    await send('charge', 5, 'Failed');
    await send('many', MANY, 'Failed');
    isBroken = false;
  });
  after(async () => {
    await service.stop();
    await host.close();
  });

  async function send(id: string, count: number, status: string): Promise<void> {
    const events = Array.from({ length: count }, (_, number) => ({ name: `bulk/${id}`, data: { number } }));
    await service.post(service.eventPath, events);
    await service.waitFor(`/v1/runs/count?function_id=shop-${id}&status=${status}`, ({ body }) => {
      return body.data?.count === count;
    });
  }

  const countOf = async (query: string) => (await service.get(`/v1/runs/count?${query}`)).body.data.count;
  const table = (page: Page) => page.getByRole('table', { name: 'Runs' });
  const bar = (page: Page) => page.getByRole('region', { name: 'Selection' });
  const boxes = (page: Page) => table(page).getByRole('checkbox', { name: /^Select run of/ });
  const panel = (page: Page, name: RegExp) => page.getByRole('article', { name });

  it('rows are selected by checkbox, as a range with Shift, with x, or all loaded ones at once', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/runs?function=shop-charge`);
      await boxes(page).nth(0).check();
      await bar(page).getByText('1 run selected').waitFor();
      await boxes(page)
        .nth(3)
        .click({ modifiers: ['Shift'] });
      await bar(page).getByText('4 runs selected').waitFor();
      expect(await boxes(page).nth(2).isChecked()).to.equal(true);
      await page.getByRole('button', { name: 'Clear selection' }).click();
      await bar(page).waitFor({ state: 'detached' });
      await page.keyboard.press('j');
      await page.keyboard.press('j');
      await page.keyboard.press('x');
      await bar(page).getByText('1 run selected').waitFor();
      expect(await boxes(page).nth(1).isChecked()).to.equal(true);
      await table(page).getByRole('checkbox', { name: 'Select all loaded rows' }).check();
      await bar(page).getByText('5 runs selected').waitFor();
      await page.keyboard.press('Escape');
      await bar(page).waitFor({ state: 'detached' });
      expect(page.url()).to.include('/runs?');
    }));

  it('selected runs are counted first, re-run with progress that stays across pages, and undone', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/runs?function=shop-charge&status=Failed`);
      await boxes(page).nth(0).check();
      await boxes(page).nth(2).check();
      await bar(page).getByRole('button', { name: 'Re-run…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Re-run: 2 runs?' });
      await dialog.getByText('2 Failed').waitFor();
      await dialog.getByText('shop-charge: 2').waitFor();
      await dialog.getByText('the app as it is deployed now').waitFor();
      expect(await dialog.getByRole('radio', { name: /From the start/ }).isChecked()).to.equal(true);
      await dialog.getByRole('button', { name: 'Re-run: 2 runs' }).click();
      await panel(page, /^Re-run: 2 runs/)
        .getByText('2 runs re-run')
        .waitFor();
      expect(await page.locator('[data-sonner-toast]').count()).to.equal(0);
      await page.getByRole('link', { name: 'Events', exact: true }).click();
      await page.waitForURL('**/events*');
      const shown = panel(page, /^Re-run: 2 runs/);
      await shown.getByText('Results').click();
      await shown.getByRole('list', { name: 'Results' }).getByRole('link').nth(1).waitFor();
      await page.reload();
      await service.waitFor(
        '/v1/runs/count?function_id=shop-charge&status=Running',
        ({ body }) => body.data.count === 2,
      );
      await panel(page, /^Re-run: 2 runs/)
        .getByRole('button', { name: 'Undo…' })
        .click();
      const undo = page.getByRole('dialog', { name: 'Cancel: 2 runs?' });
      await undo.getByText('those that the re-run started').waitFor();
      await undo.getByRole('button', { name: 'Cancel: 2 runs' }).click();
      await panel(page, /^Undo the re-run: 2 runs/)
        .getByText('2 runs cancelled')
        .waitFor();
      expect(await countOf('function_id=shop-charge&status=Cancelled')).to.equal(2);
      await panel(page, /^Re-run: 2 runs/)
        .getByRole('button', { name: 'Close' })
        .click();
      await panel(page, /^Re-run: 2 runs/).waitFor({ state: 'detached' });
    }));

  it('an undo says how many runs it leaves alone because their IDs are not kept, and that it cannot once none is', () =>
    withPage(
      async (page) => {
        await send('late', 2, 'Failed');
        await open(page, `${service.url}/runs?function=shop-late&status=Failed`);
        await table(page).getByRole('checkbox', { name: 'Select all loaded rows' }).check();
        await bar(page).getByRole('button', { name: 'Re-run…' }).click();
        const started = page.waitForResponse(
          (response) => response.url().endsWith('/v1/runs/bulk') && response.status() === 201,
        );
        await page.getByRole('button', { name: 'Re-run: 2 runs' }).click();
        const { id } = (await (await started).json()).data;
        const shown = panel(page, /^Re-run: 2 runs/);
        await shown.getByText('2 runs re-run').waitFor();
        const { bulkOperation, bulkOperationResults } = service.keys;
        const results = bulkOperationResults('production', 'bulk-action', id, 'all');
        await service.redis.ltrim(results, 0, 0);
        await service.redis.hincrby(bulkOperation('production', 'bulk-action', id), 'results_omitted', 1);
        await shown.getByRole('button', { name: 'Undo…' }).click();
        const undo = page.getByRole('dialog');
        await undo.getByText('The re-run started 1 run more, whose IDs are not kept').waitFor();
        await undo.getByRole('button', { name: 'Keep running' }).click();

        await service.redis.del(results);
        await shown.getByRole('button', { name: 'Undo…' }).click();
        await undo.getByText('were kept for 7 days').waitFor();
        expect(await undo.getByRole('button', { name: /^Cancel/ }).isDisabled()).to.equal(true);
      },
      { forgive: /status of 409/ },
    ));

  it('all runs that match the filter are re-run from the failed step, and those without one are skipped with the reason', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/runs?function=shop-many&status=Failed`);
      await table(page).getByRole('checkbox', { name: 'Select all loaded rows' }).check();
      await bar(page)
        .getByRole('button', { name: `Select all ${MANY} runs that match` })
        .click();
      await bar(page).getByText(`All ${MANY} runs that match selected`).waitFor();
      expect(await bar(page).getByRole('button', { name: 'Cancel…' }).isDisabled()).to.equal(true);
      await bar(page).getByRole('button', { name: 'Re-run…' }).click();
      const dialog = page.getByRole('dialog', { name: `Re-run: ${MANY} runs?` });
      await dialog.getByText('shop-many', { exact: true }).waitFor();
      await dialog.getByRole('radio', { name: /From the failed step/ }).check();
      await dialog.getByRole('button', { name: `Re-run: ${MANY} runs` }).click();
      const shown = panel(page, /from the failed step/);
      await shown.getByText(`${MANY} skipped: no step of it failed`).waitFor();
      await shown.getByText('0 runs re-run').waitFor();
      expect(await countOf('function_id=shop-many')).to.equal(MANY);
      const { body } = await service.get('/v1/audit?limit=100');
      const entries = body.data.filter(({ action }: { action: string }) => action === 'POST /v1/runs/bulk');
      expect(entries[0].summary).to.include(`${MANY} runs`).and.include('function_id shop-many');
    }));

  it('a bulk cancel says that it cannot be undone, and more than 1,000 runs must be confirmed by their number', () =>
    withPage(async (page) => {
      await page.route('**/v1/runs/bulk', async (route) => {
        const request = route.request().postDataJSON();
        if (!request.dry_run) return route.continue();
        const response = await route.fetch();
        const body = await response.json();
        body.data.count = 1_234;
        await route.fulfill({ response, json: body });
      });
      await send('nap', 2, 'Running');
      await open(page, `${service.url}/runs?function=shop-nap`);
      await table(page).getByRole('checkbox', { name: 'Select all loaded rows' }).check();
      await bar(page).getByRole('button', { name: 'Cancel…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Cancel: 1,234 runs?' });
      await dialog.getByText('This cannot be undone').waitFor();
      const confirm = dialog.getByRole('button', { name: 'Cancel: 1,234 runs' });
      expect(await confirm.isDisabled()).to.equal(true);
      await dialog.getByLabel('Type 1234 to confirm').fill('1234');
      await confirm.click();
      await panel(page, /^Cancel: 2 runs/)
        .getByText('2 runs cancelled')
        .waitFor();
      expect(
        await panel(page, /^Cancel/)
          .getByRole('button', { name: 'Undo…' })
          .count(),
      ).to.equal(0);
      expect(await countOf('function_id=shop-nap&status=Cancelled')).to.equal(2);
    }));
});
