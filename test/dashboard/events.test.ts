import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { browserForSuite, open, write } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { send } from './fixtures.ts';

const BIG = '12345678901234567890';
/** Several pages of the list. */
const MANY = process.env.TEST_ALL ? 2_000 : 600;
const BATCH = 300;

describe('Events in the dashboard', () => {
  const withPage = browserForSuite({ onePage: true });
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService();
    host = await startAppHost();
    await host.register(service, [{ id: 'greet', triggers: [{ event: 'tail/*' }] }], { appName: 'tail' });
  });
  after(async () => {
    await service.stop();
    await host.close();
  });

  const rows = (page: Page) => page.getByRole('table', { name: 'Events' }).getByRole('row');

  const rowOf = (page: Page, id: string) => rows(page).filter({ has: page.locator(`a[href^="/events/${id}"]`) });

  /** Sends an event and waits until it is stored. */
  async function stored(event: object | string): Promise<string> {
    const { body } = await service.post(service.eventPath, event, { 'content-type': 'application/json' });
    await service.stored(body.ids[0]);
    return body.ids[0];
  }

  it('the event list shows new events live, with their runs', () =>
    withPage(async (page) => {
      await stored({ name: 'before/x', data: {} });
      await open(page, `${service.url}/events`);
      await rows(page).filter({ hasText: 'before/x' }).waitFor();
      await send(service, { name: 'tail/x', data: {} });
      const row = rows(page).filter({ hasText: 'tail/x' });
      await row.waitFor();
      await row.getByRole('link', { name: /Completed/ }).click();
      await page.waitForURL('**/runs/*');
    }));

  it('events of failures and schedules are left out until they are asked for; runs name their app', () =>
    withPage(async (page) => {
      host.on('refuse', () => ({ status: 400, headers: { 'x-service-no-retry': 'true' }, body: { message: 'no' } }));
      const handler = { id: 'handler', triggers: [{ event: 'inngest/function.failed' }] };
      const refuse = { id: 'refuse', name: 'Refuse politely', triggers: [{ event: 'fold/x' }], retries: 0 };
      await host.register(service, [refuse, handler], { appName: 'fold' });
      await open(page, `${service.url}/events`);
      await stored({ name: 'fold/x', data: {} });
      const row = rows(page).filter({ hasText: 'fold/x' });
      await row.getByRole('link', { name: /Failed Refuse politely fold/ }).waitFor();
      await service.waitFor('/v1/runs?function_id=fold-handler&status=Completed', ({ body }) => body.data.length === 1);
      expect(await rows(page).filter({ hasText: 'inngest/function.failed' }).count()).to.equal(0);
      await page.getByLabel('Events of schedules and failures').check();
      await page.waitForURL('**/events?all=true');
      await rows(page).filter({ hasText: 'inngest/function.failed' }).waitFor();
    }));

  it('a paused event list counts new events instead of showing them', () =>
    withPage(async (page) => {
      await stored({ name: 'paused/x', data: {} });
      await open(page, `${service.url}/events?name=paused%2Fx`);
      await rows(page).filter({ hasText: 'paused/x' }).waitFor();
      await page.getByRole('button', { name: 'Pause' }).click();
      await page.waitForURL('**/events?name=paused%2Fx&paused=true');
      const late = await stored({ name: 'paused/x', data: {} });
      await page.getByRole('button', { name: '1 new event – show' }).waitFor();
      expect(await rowOf(page, late).count()).to.equal(0);
      await page.getByRole('button', { name: '1 new event – show' }).click();
      await rowOf(page, late).waitFor();
    }));

  it('the event list filters by name and ID, and keeps the filters in the URL', () =>
    withPage(async (page) => {
      const id = await stored({ name: 'find/this', id: 'exactly-this', data: {} });
      await stored({ name: 'find/other', data: {} });
      await open(page, `${service.url}/events`);
      await page.getByLabel('Name').fill('find/this');
      await page.keyboard.press('Enter');
      await page.waitForURL('**/events?name=find%2Fthis');
      await rows(page).filter({ hasText: 'find/this' }).waitFor();
      expect(await rows(page).filter({ hasText: 'find/other' }).count()).to.equal(0);
      await page.getByLabel('ID').fill('exactly-this');
      await page.keyboard.press('Enter');
      await page.waitForURL(`**/events/${id}**`);
    }));

  it('dragging on the histogram selects a time range', () =>
    withPage(async (page) => {
      await stored({ name: 'span/x', data: {} });
      await open(page, `${service.url}/events`);
      const chart = page.getByRole('figure').locator('svg');
      const { x = 0, y = 0, width = 0, height = 0 } = (await chart.boundingBox()) ?? {};
      await page.mouse.move(x + width / 3, y + height / 3);
      await page.mouse.down();
      await page.mouse.move(x + width / 2, y + height / 3, { steps: 4 });
      await page.mouse.up();
      await page.waitForURL(/[?&]from=.*&to=/);
    }));

  it('scrolling a list of hundreds of events reaches the oldest', () =>
    withPage(async (page) => {
      const oldest = await stored({ name: 'many/x', data: {} });
      for (let sent = 0; sent < MANY; sent += BATCH) {
        await send(service, Array(Math.min(BATCH, MANY - sent)).fill({ name: 'many/x', data: {} }));
      }
      const newest = await stored({ name: 'many/x', data: {} });
      await open(page, `${service.url}/events?name=many%2Fx`);
      await rowOf(page, newest).waitFor();
      expect(await page.getByRole('status', { name: 'Loading' }).count()).to.equal(0);
      const toEnd = async () => {
        await page.keyboard.press('End');
        return (await rowOf(page, oldest).count()) > 0;
      };
      // Hundreds of rows later.
      await until(toEnd, { describe: 'the oldest event is visible', timeoutMs: 100_000 });
      expect(await rows(page).count()).to.be.below(100);
    }));

  it('the payload of an event keeps all digits of integers, as a tree and raw', () =>
    withPage(async (page) => {
      const id = await stored(`{"name": "exact/x", "data": {"order": ${BIG}, "price": 1.10}}`);
      await open(page, `${service.url}/events/${id}`);
      await page.getByText(BIG).first().waitFor();
      await open(page, `${service.url}/events/${id}?view=raw`);
      await page.getByText(BIG).first().waitFor();
    }));

  it('a payload of 512 KB expands as a tree', () =>
    withPage(async (page) => {
      const lines = Array.from({ length: 7_000 }, (_, n) => ({ number: n, text: `line ${n} `.padEnd(40, '.') }));
      const id = await stored({ name: 'big/x', data: { lines } });
      await open(page, `${service.url}/events/${id}`);
      await page.getByRole('button', { name: 'lines: [ 7000 items ]' }).click();
      await page.getByRole('button', { name: /6900 more/ }).click();
      await page.getByRole('button', { name: /^150:/ }).click();
      await page.getByText('150', { exact: true }).waitFor();
    }));

  it('the event page resends an event, and sends an edited copy', () =>
    withPage(async (page) => {
      const id = await stored({ name: 'tail/again', data: { n: 1 } });
      await host.nextCall('greet');
      await open(page, `${service.url}/events/${id}`);
      await page.getByRole('button', { name: 'Resend' }).click();
      await called('tail/again', { n: 1 });
      await page.waitForURL((url) => url.pathname.startsWith('/events/') && !url.pathname.endsWith(id));
      await open(page, `${service.url}/events/${id}`);
      await page.getByRole('button', { name: 'Edit and send' }).click();
      const dialog = page.getByRole('dialog');
      await write(dialog.getByRole('textbox').first(), '{"name": "tail/edited", "data": {"n": 2}}');
      await dialog.getByRole('button', { name: 'Send to production' }).click();
      await called('tail/edited', { n: 2 });
      await page.getByRole('heading', { level: 1, name: 'tail/edited' }).waitFor();
    }));

  it('typing over highlighted text in the editor obeys the CSP and can be undone', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/events`);
      await page.getByRole('button', { name: 'Send event' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('textbox').first().focus();
      const editor = dialog.locator('.cm-content');
      await editor.getByText('"hello/world"').click({ clickCount: 3 });
      await page.keyboard.type('"data": [');
      await editor.getByText('"data": []').waitFor();
      await editor.press('Control+z');
      await editor.press('Control+z');
      await editor.getByText('"hello/world"').waitFor();
    }));

  /** Waits for the function call that the event triggers. */
  async function called(name: string, data: object): Promise<void> {
    for (;;) {
      const { body } = await host.nextCall('greet');
      if (body.event.name === name && JSON.stringify(body.event.data) === JSON.stringify(data)) return;
    }
  }
});
