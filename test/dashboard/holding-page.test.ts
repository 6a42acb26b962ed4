import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { addUser } from '../support/auth.ts';
import { browserForSuite, open, settled, signIn } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';
import { expectAccessible } from './accessible.ts';
import { make } from './fixtures.ts';

const TRANSFORM = 'const transform = (evt) => ({ name: "order/placed", data: evt })';

describe('The holding page of the dashboard', () => {
  const withPage = browserForSuite();
  let service: Service;
  let path: string;
  before(async () => {
    service = await startService({ dev: false });
    await addUser(service, 'ada@example.com', 'admin');
    await make(service, '/v1/environments', { name: 'feature', kind: 'branch' });
    const fields = { name: 'Orders', environment: 'branches', transform: TRANSFORM };
    path = new URL((await make(service, '/v1/webhooks', fields)).url).pathname;
  });
  after(() => service.stop());

  async function openHoldingPage(page: Page): Promise<void> {
    await page.goto(`${service.url}/held-events`);
    await signIn(page, 'ada@example.com');
    await settled(page);
  }

  it('shows events without a valid environment live, and assigns them to a selected one', () =>
    withPage(async (page) => {
      await openHoldingPage(page);
      const { body } = await service.post(path, { number: 1 }, { 'x-service-env': 'nowhere' });
      const row = page.getByRole('row').filter({ hasText: 'order/placed' });
      await row.waitFor();
      expect(await row.innerText()).to.include('nowhere');
      await row.getByRole('button', { name: /^assign/i }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('combobox', { name: /environment/i }).selectOption('feature');
      await dialog.getByRole('button', { name: /^assign/i }).click();
      await row.waitFor({ state: 'detached' });
      await open(page, `${service.url}/events/${body.ids[0]}?env=feature`);
      await page.getByRole('heading', { level: 1, name: 'order/placed' }).waitFor();
    }));

  it('shows what an event has, and in dev mode how one comes there', () =>
    withPage(async (page) => {
      await service.post(path, { number: 42 });
      await openHoldingPage(page);
      await page.getByRole('row').filter({ hasText: 'order/placed' }).getByText('{"number":42}').waitFor();
      await expectAccessible(page);
      await service.request('DELETE', '/v1/holding?all=true', undefined, service.apiHeaders);
      const dev = await startService({ workers: 0 });
      try {
        const fields = { name: 'Orders', environment: 'branches', transform: TRANSFORM };
        const { url } = await make(dev, '/v1/webhooks', fields);
        await open(page, `${dev.url}/held-events`);
        await page.getByText('No held events').waitFor();
        await page.getByText('/e/••••••••').waitFor();
        expect(await page.getByText(url).count()).to.equal(0);
        await dev.post(new URL(url).pathname, { number: 1 });
        await page.getByRole('row').filter({ hasText: 'order/placed' }).waitFor();
      } finally {
        await dev.stop();
      }
    }));

  it('asks for confirmation before discarding an event', () =>
    withPage(async (page) => {
      await service.post(path, { number: 2 });
      await openHoldingPage(page);
      const row = page.getByRole('row').filter({ hasText: 'order/placed' });
      await row.getByRole('button', { name: 'order/placed' }).click();
      const held = page.getByRole('dialog', { name: 'order/placed', exact: true });
      await held.getByRole('button', { name: 'Discard' }).click();
      const question = page.getByRole('dialog', { name: 'Discard order/placed?' });
      await question.getByRole('button', { name: 'Cancel' }).click();
      expect((await service.get('/v1/holding')).body.data.length).to.equal(1);
      await question.waitFor({ state: 'hidden' });
      await held.getByRole('button', { name: 'Discard' }).click();
      await question.getByRole('button', { name: 'Discard', exact: true }).click();
      await row.waitFor({ state: 'detached' });
      expect((await service.get('/v1/holding')).body.data.length).to.equal(0);
    }));
});
