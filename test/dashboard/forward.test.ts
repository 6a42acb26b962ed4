import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { freePort } from '../../scripts/lib/ports.ts';
import { addUser } from '../support/auth.ts';
import { browserForSuite, open, settled, signIn } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';

const EVENT = { name: 'order/placed', id: 'order-9', ts: 1_700_000_000_000, data: { number: 9 }, user: { id: 'u' } };

describe('"Send to dev server" in the dashboard', () => {
  const withPage = browserForSuite();
  let production: Service;
  let dev: Service;
  let id: string;

  before(async () => {
    [production, dev] = await Promise.all([startService({ dev: false }), startService()]);
    await addUser(production, 'ada@example.com', 'admin');
    id = (await production.post(production.eventPath, EVENT)).body.ids[0];
    await production.stored(id);
  });
  after(async () => {
    await production.stop();
    await dev.stop();
  });

  async function openDialog(page: Page, address: string) {
    await page.goto(`${production.url}/events/${id}`);
    await signIn(page, 'ada@example.com');
    await settled(page);
    await page.getByRole('button', { name: /send to dev server/i }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByLabel(/address/i).inputValue()).to.equal('http://127.0.0.1:8288');
    await dialog.getByLabel(/address/i).fill(address);
    await dialog.getByRole('button', { name: /^send/i }).click();
    return dialog;
  }

  it('forwards a production event to a local dev server, with id and ts', () =>
    withPage(async (page) => {
      const dialog = await openDialog(page, dev.url);
      const copyId = await dialog.getByText(/[0-9A-HJKMNP-TV-Z]{26}/).innerText();
      const [ulid] = /[0-9A-HJKMNP-TV-Z]{26}/.exec(copyId) ?? [];
      const copy = await dev.waitFor(`/v1/events/${ulid}`, ({ status }) => status === 200);
      expect(copy.body.data).to.deep.include(EVENT);
      await open(page, `${dev.url}/events`);
      await page.getByRole('row').filter({ hasText: 'order/placed' }).waitFor();
    }));

  it('shows an error when no dev server is running', () =>
    withPage(
      async (page) => {
        const dialog = await openDialog(page, `http://127.0.0.1:${await freePort()}`);
        await dialog.getByRole('alert').waitFor();
      },
      { forgive: /ERR_CONNECTION_REFUSED/ },
    ));
});
