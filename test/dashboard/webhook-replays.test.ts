import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { browserForSuite, open, write } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';
import { make } from './fixtures.ts';

const SAVED = `function transform(evt) { return { name: 'order/placed', data: { number: evt.number } }; }`;
const DRAFT = `function transform(evt) {
  if (evt.number === 2) return null;
  return { name: 'order/placed', data: { number: evt.number, total: evt.total } };
}`;

describe('Webhook replays in the dashboard', () => {
  const withPage = browserForSuite({ onePage: true });
  let service: Service;
  let id: string;
  before(async () => {
    service = await startService({ archive: true });
    const webhook = await make(service, '/v1/webhooks', { name: 'Shop orders', transform: SAVED });
    id = webhook.id;
    for (const number of [1, 2]) {
      const { headers } = await service.post(new URL(webhook.url).pathname, { number, total: 10 * number });
      const path = `/v1/webhooks/${id}/requests/${headers.get('x-request-id')}`;
      await service.waitFor(path, ({ status }) => status === 200);
    }
  });
  after(() => service.stop());

  const dialogOf = (page: Page) => page.getByRole('dialog', { name: 'Replay logged requests' });

  it('requests are replayed through the draft in the editor, after a dry run that shows the differences', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/webhooks/${id}`);
      await write(page.getByRole('textbox', { name: 'Transform' }), DRAFT);
      await page.getByRole('link', { name: 'Requests' }).click();
      await page.getByRole('button', { name: 'Replay', exact: true }).click();
      const dialog = dialogOf(page);
      expect(await dialog.getByRole('button', { name: 'Start' }).isDisabled()).to.equal(true);
      await dialog.getByRole('button', { name: 'Dry run' }).click();
      await dialog.getByText('Of the newest 2, 2 differ.').waitFor();
      const compared = dialog.getByRole('list', { name: 'Compared requests' });
      await compared.locator('summary').filter({ hasText: 'No event' }).first().waitFor();
      await compared.locator('summary').filter({ hasText: 'Changed' }).click();
      await compared.getByRole('region', { name: 'After: draft' }).getByText('total').waitFor();
      const before = compared.getByRole('region', { name: 'Before: saved transform' }).first();
      expect(await before.innerText()).not.to.include('total');
      await dialog.getByRole('button', { name: 'Start' }).click();
      const replays = page.getByRole('list', { name: 'Replays' });
      await replays.getByText('2 of 2 requests through a draft').waitFor();
      await replays.getByText('Done', { exact: true }).waitFor();
      await replays.getByRole('button', { name: 'Made an event: 1' }).click();
      await replays.getByRole('link', { name: /^Event/ }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Discard changes' }).click();
      await page.waitForURL('**/events/*');
      await page.getByText('total', { exact: false }).first().waitFor();
    }));

  it('a replay is paused, resumed and cancelled', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/webhooks/${id}?tab=requests&outcome=accepted`);
      await page.getByRole('button', { name: 'Replay', exact: true }).click();
      const dialog = dialogOf(page);
      expect(await dialog.getByLabel('Outcome').inputValue()).to.equal('accepted');
      await dialog.getByLabel('Requests per second').fill('1');
      await dialog.getByRole('button', { name: 'Dry run' }).click();
      await dialog.getByRole('button', { name: 'Start' }).click();
      await page.getByRole('button', { name: 'Pause replay' }).click();
      await page.getByRole('button', { name: 'Resume replay' }).click();
      await page.getByRole('button', { name: 'Cancel replay' }).click();
      await page.getByRole('list', { name: 'Replays' }).getByText('Cancelled', { exact: true }).waitFor();
    }));
});
