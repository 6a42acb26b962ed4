import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { browserForSuite, open } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';
import { make, runOf, send } from './fixtures.ts';

describe('The command palette', () => {
  const withPage = browserForSuite({ onePage: true });
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService();
    host = await startAppHost();
    host.on('pack', () => ({ body: 'packed' }));
    await host.register(service, [{ id: 'pack', triggers: [{ event: 'order/placed' }] }], { appName: 'depot' });
    await make(service, '/v1/environments', { name: 'feature', kind: 'branch' });
  });
  after(async () => {
    await service.stop();
    await host.close();
  });

  async function choose(page: Page, text: string, option: RegExp): Promise<void> {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Jump to' }).fill(text);
    await page.getByRole('option', { name: option }).click();
  }

  it('opens the run or event of a pasted ID', () =>
    withPage(async (page) => {
      const eventId = await send(service, { name: 'order/placed', data: { n: 1 } });
      const runId = await runOf(service, eventId, 'depot-pack', 'Completed');
      await open(page, service.url);
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Jump to' }).fill(runId);
      await page.getByRole('option', { name: /depot-pack/ }).waitFor();
      await page.keyboard.press('Enter');
      await page.waitForURL(`**/runs/${runId}`);
      await choose(page, eventId, /order\/placed/);
      await page.waitForURL(`**/events/${eventId}`);
    }));

  it('accepts typing as soon as it is open, without a click', () =>
    withPage(async (page) => {
      await open(page, service.url);
      await page.keyboard.press('Control+k');
      await page.getByRole('dialog', { name: 'Jump to' }).waitFor();
      await page.keyboard.type('held ev');
      await page
        .getByRole('option', { name: /^Held events/ })
        .and(page.locator('[aria-selected=true]'))
        .waitFor();
      await page.keyboard.press('Enter');
      await page.waitForURL('**/held-events');
    }));

  it('keeps the first row selected when what the service found comes before it, and asks for a typed text once', () =>
    withPage(async (page) => {
      await open(page, service.url);
      await page.keyboard.press('Control+k');
      const texts: string[] = [];
      page.on('request', (request) => {
        const { pathname, searchParams } = new URL(request.url());
        if (pathname === '/v1/search') texts.push(searchParams.get('text') ?? '');
      });
      await page.getByRole('combobox', { name: 'Jump to' }).pressSequentially('order/placed');
      const found = page.getByRole('option', { name: /^order\/placed.*event name/ });
      await found.and(page.locator('[aria-selected=true]')).waitFor();
      const rows = page.getByRole('listbox', { name: 'Results' }).getByRole('option');
      expect(await rows.first().innerText()).to.include('order/placed');
      expect(texts).to.include('order/placed').and.have.length.below(4);
      await page.keyboard.press('Enter');
      await page.waitForURL((url) => url.searchParams.get('name') === 'order/placed');
    }));

  it('goes to an event name and to an app', () =>
    withPage(async (page) => {
      await open(page, service.url);
      await choose(page, 'order/pl', /order\/placed.*event name/);
      await page.waitForURL((url) => url.pathname === '/events' && url.searchParams.get('name') === 'order/placed');
      await choose(page, 'depot', /^depot.*app/);
      await page.waitForURL('**/apps/depot');
    }));

  it('switches the environment, starts creating a webhook, and pauses and resumes a function', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/runs`);
      await choose(page, 'feature', /Switch to environment feature/);
      await page.waitForURL('**/runs?env=feature');
      await choose(page, 'production', /Switch to environment production/);
      await page.waitForURL((url) => url.pathname === '/runs' && url.search === '');
      await choose(page, 'create webhook', /Create webhook/);
      await page.getByRole('dialog', { name: /webhook/i }).waitFor();
      await page.keyboard.press('Escape');
      await choose(page, 'pause', /Pause function.*pack/);
      await page
        .getByRole('dialog', { name: /^Pause / })
        .getByRole('button', { name: 'Pause' })
        .click();
      await page.getByText('Function paused').waitFor();
      const paused = async () => (await service.get('/v1/functions/depot-pack')).body.data.paused_at !== null;
      expect(await paused()).to.equal(true);
      await choose(page, 'resume', /Resume function.*pack/);
      await page.getByText('Function resumed').waitFor();
      expect(await paused()).to.equal(false);
    }));

  it('shows Ctrl on keyboards without ⌘', () =>
    withPage(async (page) => {
      await open(page, service.url);
      await page
        .getByRole('button', { name: /Jump to/ })
        .getByText('Ctrl K')
        .waitFor();
    }));
});
