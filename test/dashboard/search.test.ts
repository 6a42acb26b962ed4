import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { browserForSuite, open, write } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { runOf } from './fixtures.ts';

const REJECTED = /400 .*\/v1\/(?:events|runs)\?/;

describe('Search in the dashboard', () => {
  const withPage = browserForSuite({ onePage: true });
  let service: Service;
  let host: AppHost;
  let matching: string;
  let other: string;
  before(async () => {
    service = await startService({ archive: true });
    host = await startAppHost();
    host.on('charge', () => ({
      status: 400,
      headers: { 'x-service-no-retry': 'true' },
      body: { name: 'DeclinedError', message: 'the card was declined' },
    }));
    await host.register(service, [{ id: 'charge', triggers: [{ event: 'order/placed' }] }], { appName: 'shop' });
    matching = await stored({ name: 'order/placed', id: 'first-order', data: { customer: { id: 'c_1' }, total: 99 } });
    other = await stored({ name: 'order/placed', data: { customer: { id: 'c_2' }, total: 5 } });
    await runOf(service, matching, 'shop-charge', 'Failed');
    await runOf(service, other, 'shop-charge', 'Failed');
  });
  after(async () => {
    await service.stop();
    await host.close();
  });

  async function stored(event: object): Promise<string> {
    const { body } = await service.post(service.eventPath, event);
    await service.stored(body.ids[0]);
    return body.ids[0];
  }

  const rows = (page: Page, table: string) => page.getByRole('table', { name: table }).getByRole('row');
  const eventRow = (page: Page, id: string) =>
    rows(page, 'Events').filter({ has: page.locator(`a[href^="/events/${id}"]`) });
  const box = (page: Page) => page.getByRole('textbox', { name: 'Search', exact: true });

  /** Replaces the content of the search box, once the editor is there. */
  async function type(page: Page, text: string): Promise<void> {
    await box(page).focus();
    await page.locator('.cm-content[aria-label=Search]').waitFor();
    await write(box(page), text);
  }

  /** Picks a completion. CodeMirror ignores a click on a list that it draws again meanwhile. */
  async function complete(page: Page, option: RegExp, text: string): Promise<void> {
    const isCompleted = async () => {
      if ((await box(page).innerText()).startsWith(text)) return true;
      await page.getByRole('option', { name: option }).click();
      return false;
    };
    await until(isCompleted, { describe: `the search box has ${text}` });
  }

  it('the search box finds events by content, together with other filters, and keeps the search in the URL', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/events?name=order%2Fplaced`);
      await eventRow(page, other).waitFor();
      await type(page, 'data.customer.id == "c_1"');
      await page.keyboard.press('Enter');
      await page.waitForURL((url) => url.searchParams.get('q') === 'data.customer.id == "c_1"');
      await eventRow(page, other).waitFor({ state: 'detached' });
      await eventRow(page, matching).waitFor();
      await page.reload();
      await eventRow(page, matching).waitFor();
      expect(await eventRow(page, other).count()).to.equal(0);
      expect(new URL(page.url()).searchParams.get('name')).to.equal('order/placed');
    }));

  it('the search box completes operators and the fields of stored events', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/events`);
      await type(page, '');
      await page.keyboard.type('data.cust');
      await complete(page, /^data\.customer\.id/, 'data.customer.id');
      await page.keyboard.type(' ');
      await complete(page, /^==/, 'data.customer.id ==');
      await page.keyboard.type('"c_2"');
      await page.keyboard.press('Enter');
      await page.waitForURL((url) => url.searchParams.get('q') === 'data.customer.id == "c_2"');
      await eventRow(page, other).waitFor();
      expect(await eventRow(page, matching).count()).to.equal(0);
    }));

  it('the search box shows a syntax error at its position', () =>
    withPage(
      async (page) => {
        await open(page, `${service.url}/events`);
        await type(page, 'data.total > 10 && nme == "order/placed"');
        await page.keyboard.press('Enter');
        const alert = page.getByRole('alert').filter({ hasText: 'did you mean name?' });
        await alert.waitFor();
        expect(await alert.locator('mark').innerText()).to.equal('n');
        expect(await page.locator('.cm-lintRange-error').innerText()).to.equal('nme');
        await box(page).and(page.locator('[aria-invalid=true]')).waitFor();
        await type(page, 'data.total > 10 && name == "order/placed"');
        await page.keyboard.press('Enter');
        await eventRow(page, matching).waitFor();
        expect(await page.getByRole('alert').count()).to.equal(0);
      },
      { forgive: REJECTED },
    ));

  it('the search box looks for plain text in IDs, names, functions and errors', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/events?q=first-order`);
      const found = (name: string) => page.getByRole('list', { name });
      await found('Events with this deduplication ID').getByText(matching).waitFor();
      await type(page, 'card was declined');
      await page.keyboard.press('Enter');
      await found('Failed runs with this error').getByRole('link', { name: 'shop-charge' }).first().waitFor();
      await page.getByRole('link', { name: 'Show all' }).click();
      await page.waitForURL((url) => url.pathname === '/runs' && url.searchParams.get('error') === 'card was declined');
      await rows(page, 'Runs').filter({ hasText: 'the card was declined' }).first().waitFor();
      await type(page, 'order/*');
      await page.keyboard.press('Enter');
      await found('Event names').getByRole('link', { name: 'order/placed' }).click();
      await page.waitForURL((url) => url.pathname === '/events' && url.searchParams.get('name') === 'order/placed');
    }));

  it('the search box of the run list finds runs by their event', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/runs`);
      await type(page, 'event.data.total > 50 && status == "Failed"');
      await page.keyboard.press('Enter');
      await page.waitForURL(/[?&]q=event/);
      await rows(page, 'Runs').nth(1).waitFor();
      await rows(page, 'Runs').getByRole('link', { name: 'charge', exact: true }).first().click();
      await page.waitForURL('**/runs/*');
      await page.getByText('c_1').first().waitFor();
    }));

  it('a search that ran out of time says how far it got, and continues from there', () =>
    withPage(async (page) => {
      const stoppedAt = '2026-11-01T08:00:00.000Z';
      await page.route(/\/v1\/events\?.*search=/, async (route) => {
        const isSecond = new URL(route.request().url()).searchParams.has('cursor');
        if (isSecond)
          return route.continue({
            url: route
              .request()
              .url()
              .replace(/&cursor=[^&]*/, ''),
          });
        const metadata = { fetched_at: stoppedAt, cursor: 'x', stopped_early: 'time', stopped_at: stoppedAt };
        return route.fulfill({ json: { data: [], metadata } });
      });
      await open(page, `${service.url}/events?q=${encodeURIComponent('data.total > 50')}`);
      await page.getByText(/Stopped after 5 s at 1 Nov 2026/).waitFor();
      expect(await rows(page, 'Events').count()).to.equal(0);
      await page.getByRole('button', { name: 'Go on' }).click();
      await eventRow(page, matching).waitFor();
      expect(await page.getByText(/Stopped after/).count()).to.equal(0);
    }));
});
