import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { addUser } from '../support/auth.ts';
import { browserForSuite, open, settled, signIn } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';
import { expectAccessible } from './accessible.ts';
import { make, send } from './fixtures.ts';

const ADMIN = 'ada@example.com';

describe('The pages that manage the service', () => {
  const withPage = browserForSuite({ onePage: true });
  let service: Service;
  let host: AppHost;
  before(async () => {
    const env = { SMTP_URL: 'smtp://ada:hush-hush@127.0.0.1:2525', ALERT_FROM: 'alerts@example.com' };
    service = await startService({ dev: false, env });
    host = await startAppHost();
    await host.register(service, [{ id: 'pack', triggers: [{ event: 'order/placed' }] }], { appName: 'shop' });
    await addUser(service, ADMIN, 'admin');
  });
  after(async () => {
    await service.stop();
    await host.close();
  });

  async function openPage(page: Page, path: string): Promise<void> {
    if (page.url().startsWith(service.url)) return open(page, service.url + path);
    await page.goto(service.url + path);
    await signIn(page, ADMIN);
    await settled(page);
  }

  it('settings that differ from their defaults come first, the others by topic; a search finds topics too, and no password is shown', () =>
    withPage(async (page) => {
      await openPage(page, '/settings');
      const changed = page.getByRole('region', { name: 'Different from the default' });
      await changed.getByText('KEY_PREFIX').waitFor();
      await changed.getByText('smtp://ada:***@127.0.0.1:2525').waitFor();
      expect(await page.locator('main').innerText()).not.to.include('hush-hush');
      const topics = await page.locator('main section section').evaluateAll((all) => all.map((item) => item.ariaLabel));
      expect(topics.slice(0, 3)).to.deep.equal(['Different from the default', 'Service', 'Redis']);
      await expectAccessible(page);
      await page.getByRole('searchbox', { name: 'Search settings' }).fill('outbound addresses');
      await page.getByRole('region', { name: 'Outbound addresses' }).waitFor();
      await page.getByRole('region', { name: 'Realtime' }).waitFor({ state: 'detached' });
    }));

  it('environments show what they have and how long they keep it, and name their actions', () =>
    withPage(async (page) => {
      await make(service, '/v1/environments', { name: 'staging' });
      const id = (await service.post(service.eventPath, { name: 'order/placed', data: {} })).body.ids[0];
      await service.stored(id);
      await openPage(page, '/environments');
      const production = page.getByRole('row').filter({ hasText: 'built in' });
      await production.getByText('1 event').waitFor();
      await production.getByText('7 days').waitFor();
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Limits of staging' }).click();
      await page.getByRole('dialog', { name: 'Limits of staging' }).getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('button', { name: 'Archive staging' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Archive', exact: true }).click();
      await page.getByRole('button', { name: 'Unarchive staging' }).waitFor();
      expect(await page.getByRole('button', { name: 'Archive production' }).count()).to.equal(0);
    }));

  it('the audit log is filtered by time, and what the filter selects is saved as CSV', () =>
    withPage(async (page) => {
      await make(service, '/v1/event-keys', { name: '=cmd()' });
      await openPage(page, '/audit-log?from=1h&q=event%20key');
      await page.getByRole('row').filter({ hasText: '=cmd()' }).waitFor();
      await expectAccessible(page);
      const [saved] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Export CSV' }).click(),
      ]);
      const [head, ...lines] = readFileSync(await saved.path(), 'utf8')
        .trimEnd()
        .split('\r\n');
      expect(head).to.match(/^at,actor_kind,actor,action,/);
      expect(lines).to.have.length(1);
      expect(lines[0]).to.match(/^"20[^"]*","setting",.*"POST \/v1\/event-keys"/);
      await page.getByRole('combobox', { name: 'Time' }).selectOption('Custom range');
      await page.getByLabel('Changed before').fill('2020-01-01T00:00:00');
      await page.getByText('No matching entries').waitFor();
    }));

  it('the audit log names a webhook that is gone', () =>
    withPage(async (page) => {
      const { id } = await make(service, '/v1/webhooks', { name: 'Gone orders' });
      await service.request('DELETE', `/v1/webhooks/${id}`, undefined, service.apiHeaders);
      await openPage(page, '/audit-log?from=1h&q=gone');
      const row = page.getByRole('row').filter({ hasText: 'Delete a webhook' });
      await row.getByText(`Gone orders · ${id}`).waitFor();
    }));

  it('the form of an alert channel says which names are allowed before it sends one, and a channel that a rule needs stays', () =>
    withPage(
      async (page) => {
        await openPage(page, '/alerts?tab=channels');
        await page.getByRole('button', { name: 'Create channel' }).first().click();
        const dialog = page.getByRole('dialog', { name: 'Create channel' });
        const name = dialog.getByLabel('Name');
        await name.fill('#ops');
        await dialog.getByLabel('Kind').selectOption('Slack');
        await dialog.getByLabel('URL').fill('https://example.com/hook');
        await dialog.getByText('Letters, digits, “_”, “.” and “-”').waitFor();
        const sent: string[] = [];
        page.on('request', (one) => one.method() === 'POST' && sent.push(one.url()));
        await dialog.getByRole('button', { name: 'Create channel' }).click();
        expect([await dialog.locator('input:invalid').count(), sent]).to.deep.equal([1, []]);
        await name.fill('ops');
        await dialog.getByRole('button', { name: 'Create channel' }).click();
        await dialog.waitFor({ state: 'detached' });
        await service.request('PATCH', '/v1/alert-rules/no_worker', { channels: ['ops'] }, service.apiHeaders);
        await page.getByRole('button', { name: 'Delete ops' }).click();
        await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
        await page.getByText(/no_worker: give it other channels/).waitFor();
        await service.request('PATCH', '/v1/alert-rules/no_worker', { channels: null }, service.apiHeaders);
        await service.request('DELETE', '/v1/alert-channels/ops', undefined, service.apiHeaders);
      },
      { forgive: /409/ },
    ));

  it('a replay links to each new run', () =>
    withPage(async (page) => {
      const event = await send(service, { name: 'order/placed', data: { number: 1 } });
      await service.waitFor(`/v1/events/${event}/runs`, ({ body }) => body.data?.[0]?.status === 'Completed');
      const { id } = await make(service, '/v1/replays', {
        ...{ name: 'Again', filter: { name: 'order/*' }, functions: ['shop-pack'], statuses: ['Completed'] },
        received_after: new Date(Date.now() - 3_600_000).toISOString(),
        received_before: new Date().toISOString(),
      });
      await service.waitFor(`/v1/replays/${id}`, ({ body }) => body.data?.status === 'done');
      await openPage(page, `/replays/${id}`);
      const row = page.getByRole('row').filter({ hasText: 'shop-pack' }).first();
      await row.getByRole('cell').nth(3).getByRole('link').click();
      await page.waitForURL(/\/runs\/\w+/);
      const runId = new URL(page.url()).pathname.split('/').at(-1);
      expect((await service.get(`/v1/runs/${runId}`)).body.data.replay_id).to.equal(id);
    }));

  it('the secret URL of a webhook is masked until somebody asks for it', () =>
    withPage(async (page) => {
      const { id, url } = await make(service, '/v1/webhooks', { name: 'Orders' });
      const key = new URL(url).pathname.split('/').at(-1) as string;
      await openPage(page, `/webhooks/${id}?tab=requests`);
      await page.getByText('No requests yet').waitFor();
      expect(await page.locator('body').innerText()).not.to.include(key);
      await page.getByRole('button', { name: 'Show URL' }).click();
      await page.getByText(url, { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Hide URL' }).click();
      await page.getByText(url, { exact: true }).waitFor({ state: 'detached' });
    }));

  it('the requests of a webhook are filtered by time, and by a text in their event, reason or ID', () =>
    withPage(async (page) => {
      const transform =
        'function transform(evt) { if (evt.bad) throw new Error("no number"); return { name: evt.name, data: evt }; }';
      const { id, url } = await make(service, '/v1/webhooks', { name: 'Names', transform });
      for (const body of [{ name: 'order/placed' }, { name: 'order/paid' }, { bad: true }]) {
        await service.post(new URL(url).pathname, body);
      }
      await service.waitFor(`/v1/webhooks/${id}/requests`, ({ body }) => body.data.length === 3);
      await openPage(page, `/webhooks/${id}?tab=requests&from=1h`);
      const rows = page.getByRole('table', { name: 'Requests' }).getByRole('rowgroup').nth(1).getByRole('row');
      await rows.nth(2).waitFor();
      await page.getByRole('searchbox', { name: 'Search requests' }).fill('order/paid');
      await rows.nth(1).waitFor({ state: 'detached' });
      await rows.filter({ hasText: 'order/paid' }).waitFor();
      await page.getByRole('searchbox', { name: 'Search requests' }).fill('no number');
      await rows
        .filter({ hasText: 'Rejected' })
        .or(rows.filter({ hasText: 'rejected' }))
        .waitFor();
      await expectAccessible(page);
      await page.getByRole('combobox', { name: 'Time' }).selectOption('Custom range');
      await page.getByLabel('Received before').fill('2020-01-01T00:00:00');
      await page.getByText('No results').waitFor();
      await page.getByRole('button', { name: 'Clear filters' }).click();
      await rows.nth(2).waitFor();
    }));

  it('a webhook is created from the providers that are used most, before all others', () =>
    withPage(async (page) => {
      await openPage(page, '/webhooks?new=choose');
      const dialog = page.getByRole('dialog', { name: 'Create webhook' });
      const often = dialog.getByRole('region', { name: 'Often used' });
      await often.getByRole('button', { name: /^Stripe/ }).waitFor();
      const first = await dialog.getByRole('region').first().getAttribute('aria-label');
      expect(first).to.equal('Often used');
      await dialog
        .getByRole('region', { name: 'Other providers' })
        .getByRole('button', { name: /^Adyen/ })
        .waitFor();
      expect(await dialog.getByRole('button', { name: /^Stripe/ }).count()).to.equal(1);
    }));
});
