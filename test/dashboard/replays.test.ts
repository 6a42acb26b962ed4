import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { browserForSuite, open } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';
import { runOf } from './fixtures.ts';

const EVENTS = 3;

describe('Replays in the dashboard', () => {
  const withPage = browserForSuite({ onePage: true });
  let service: Service;
  let host: AppHost;
  let broken = true;
  before(async () => {
    service = await startService({ archive: true });
    host = await startAppHost();
    const failure = {
      status: 400,
      headers: { 'x-service-no-retry': 'true' },
      body: { name: 'Error', message: 'broken' },
    };
    host.on('charge', () => (broken ? failure : { body: { paid: true } }));
    host.on('confirm', () => ({ body: {} }));
    const functions = ['charge', 'confirm'].map((id) => ({ id, triggers: [{ event: 'order/placed' }] }));
    await host.register(service, functions, { appName: 'shop' });
    for (let number = 1; number <= EVENTS; number++) {
      const { body } = await service.post(service.eventPath, { name: 'order/placed', data: { number } });
      await runOf(service, body.ids[0], 'shop-charge', 'Failed');
      await runOf(service, body.ids[0], 'shop-confirm', 'Completed');
    }
    broken = false;
  });
  after(async () => {
    await service.stop();
    await host.close();
  });

  /** Opens the dialog with the filter of the events page. */
  async function replayThese(page: Page, query: string) {
    await open(page, `${service.url}/events?${query}`);
    await page.getByRole('button', { name: 'Replay these' }).click();
    const dialog = page.getByRole('dialog', { name: 'New replay' });
    // Includes the latest minute as well: the field has minutes.
    await dialog.getByLabel('Received before').fill('2100-01-01T00:00');
    return dialog;
  }

  it('the events page passes its filter on, a dry run says what would start, and the replay runs failed functions again', () =>
    withPage(async (page) => {
      const dialog = await replayThese(page, `name=order%2Fplaced&q=${encodeURIComponent('data.number > 1')}`);
      expect(await dialog.getByLabel('Event name').inputValue()).to.equal('order/placed');
      expect(await dialog.getByRole('button', { name: 'Start' }).isDisabled()).to.equal(true);
      await dialog.getByRole('button', { name: 'Dry run' }).click();
      await dialog.getByText('Would start 2 runs').waitFor();
      await dialog.getByRole('list', { name: 'Runs by function' }).getByText('shop-charge').waitFor();
      expect(await dialog.getByRole('list', { name: 'Sample' }).getByRole('listitem').count()).to.equal(2);
      await dialog.getByLabel('Title').fill('charge again');
      await dialog.getByRole('button', { name: 'Start' }).click();
      await page.waitForURL('**/replays/*');
      await page.getByRole('heading', { level: 1, name: 'charge again' }).waitFor();
      await page.getByText('Done', { exact: true }).first().waitFor();
      const results = page.getByRole('table', { name: 'Results' });
      await results.getByText('Completed').nth(1).waitFor();
      const row = results.getByRole('row').filter({ hasText: 'shop-charge' }).first();
      await row.getByRole('cell').nth(3).getByRole('link').click();
      await page.waitForURL('**/runs/*');
      await page.getByText('Re-run of').waitFor();
      await page.getByRole('link', { name: 'a replay' }).click();
      await page.getByRole('heading', { level: 1, name: 'charge again' }).waitFor();
      await open(page, `${service.url}/replays`);
      await page.getByRole('table', { name: 'Replays' }).getByRole('link', { name: 'charge again' }).waitFor();
    }));

  it('a replay of selected functions is paused, resumed and cancelled', () =>
    withPage(async (page) => {
      const dialog = await replayThese(page, 'name=order%2Fplaced');
      await dialog.getByRole('button', { name: 'Selected' }).click();
      await dialog.getByText('Select a function.').waitFor();
      await dialog.getByLabel('shop-confirm').check();
      await dialog.getByLabel('Failed').uncheck();
      await dialog.getByLabel('Completed').check();
      await dialog.getByLabel('Runs per second').fill('1');
      await dialog.getByRole('button', { name: 'Dry run' }).click();
      await dialog.getByText(`Would start ${EVENTS} runs`).waitFor();
      await dialog.getByRole('button', { name: 'Start' }).click();
      await page.getByRole('button', { name: 'Pause', exact: true }).click();
      await page.getByRole('button', { name: 'Resume' }).click();
      await page.getByRole('button', { name: 'Cancel', exact: true }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel replay' }).click();
      await page.getByRole('main').getByText('Cancelled', { exact: true }).first().waitFor();
    }));

  it('an invalid condition is rejected, with the position of the error', () =>
    withPage(
      async (page) => {
        await open(page, `${service.url}/replays?new=true&q=${encodeURIComponent('data.number >')}`);
        const dialog = page.getByRole('dialog');
        await dialog.getByRole('button', { name: 'Dry run' }).click();
        await dialog.getByRole('alert').waitFor();
        expect(await dialog.getByRole('button', { name: 'Start' }).isDisabled()).to.equal(true);
      },
      { forgive: /400 .*\/v1\/replays/ },
    ));
});
