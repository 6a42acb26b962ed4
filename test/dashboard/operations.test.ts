import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { browserForSuite, open } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';

describe('looking after the service in the dashboard', () => {
  const visit = browserForSuite();
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService({ workers: 0 });
    host = await startAppHost();
    await host.register(service, [{ id: 'pack', triggers: [{ event: 'order/placed' }] }], { appName: 'depot' });
  });
  after(async () => {
    await service.stop();
    await host.close();
  });

  const dialog = (page: Page, name: string) => page.getByRole('dialog', { name });

  it('the overview says when no worker is alive, and how to start one', () =>
    visit(async (page) => {
      await open(page, service.url);
      await page.getByText('No worker is alive').waitFor();
      await page.getByText('npm run start:worker').waitFor();
    }));

  it('the overview says when senders are told to come later, and why', () =>
    visit(async (page) => {
      const full = await startService({ workers: 0, env: { REDIS_MEMORY_BYTES: '1' } });
      try {
        await open(page, full.url);
        await page.getByText('Senders are told to come later').waitFor();
        await page.getByText('give Redis more memory').waitFor();
      } finally {
        await full.stop();
      }
    }));

  it('an event that no worker has stored is linked to, and its page is not opened by itself', () =>
    visit(async (page) => {
      await open(page, `${service.url}/events`);
      await page.getByRole('button', { name: 'Send an event' }).click();
      const writing = dialog(page, 'Send an event');
      await writing.getByRole('button', { name: 'Send to production' }).click();
      await writing.getByRole('button', { name: 'On its way' }).waitFor();
      await writing.getByRole('link', { name: /^[0-9A-Z]{26}$/ }).waitFor();
      expect(new URL(page.url()).pathname).to.equal('/events');
    }));

  it('a function is paused once that has been confirmed, and goes on', () =>
    visit(async (page) => {
      await open(page, `${service.url}/functions/depot-pack`);
      const paused = async () => (await service.get('/v1/functions/depot-pack')).body.data.paused_at !== null;
      await page.getByRole('button', { name: 'Pause', exact: true }).click();
      expect(await paused()).to.equal(false);
      await dialog(page, 'Pause pack?').getByRole('button', { name: 'Pause it' }).click();
      await page.getByRole('button', { name: 'Resume' }).waitFor();
      expect(await paused()).to.equal(true);
      await page.getByRole('button', { name: 'Resume' }).click();
      await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
    }));

  it('an event key is made, and its secret, which sends events, is shown once', () =>
    visit(async (page) => {
      await open(page, `${service.url}/keys`);
      await page.getByRole('button', { name: 'Make an event key' }).click();
      await dialog(page, 'Make an event key').getByLabel('Name', { exact: true }).fill('Depot');
      await page.getByRole('button', { name: 'Make the key' }).click();
      const shown = dialog(page, 'The event key is made');
      const secret = await shown.locator('pre').first().innerText();
      const { status } = await service.post(`/e/${secret}`, { name: 'order/placed', data: {} });
      expect(status).to.equal(200);
      await shown.getByRole('button', { name: 'I have copied it' }).click();
      await page.getByRole('row').filter({ hasText: 'Depot' }).waitFor();
      expect(await page.getByText(secret).count()).to.equal(0);
    }));

  it('the health check of an app that is gone says that it cannot be reached, and what helps', () =>
    visit(async (page) => {
      const app = await startAppHost();
      await app.register(service, [{ id: 'sort', triggers: [{ event: 'order/sorted' }] }], { appName: 'mill' });
      await open(page, `${service.url}/apps/mill`);
      const check = page.getByRole('button', { name: 'Check now' });
      await check.click();
      await page.getByText('It answered 200').waitFor();
      await app.close();
      await check.click();
      await page.getByText('No app answered').waitFor();
      await page.getByText('What helps:').waitFor();
    }));

  it('an address that no app answers at is not registered, and the dialog says why', () =>
    visit(
      async (page) => {
        await open(page, `${service.url}/apps`);
        await page.getByRole('button', { name: 'Register a URL' }).click();
        await dialog(page, 'Register an app').getByLabel('URL of the app').fill(`${service.url}/livez`);
        await dialog(page, 'Register an app').getByRole('button', { name: 'Register' }).click();
        await dialog(page, 'Register an app').getByRole('alert').waitFor();
      },
      { forgive: /v1\/apps/ },
    ));
});
