import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { RULE_IDS } from '../../src/model/alerts/rules.ts';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { violations } from '../support/axe.ts';
import { browserForSuite, open } from '../support/browser.ts';
import { ConnectedInstance } from '../support/connected-app.ts';
import { Receiver } from '../support/receiver.ts';
import { type Service, startService } from '../support/service.ts';
import { expectAccessible } from './accessible.ts';

describe('Operations in the dashboard', () => {
  const withPage = browserForSuite({ onePage: true });
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

  it('the overview warns when no worker is running, and shows how to start one', () =>
    withPage(async (page) => {
      await open(page, service.url);
      await page.getByRole('status', { name: 'Service' }).getByText('No worker').waitFor();
      await page.getByText('npm run start:worker').waitFor();
    }));

  it('the overview warns when new events are rejected, with the reason', () =>
    withPage(async (page) => {
      const full = await startService({ workers: 0, env: { REDIS_MEMORY_BYTES: '1' } });
      try {
        await open(page, full.url);
        await page.getByText('New events are rejected (503)').waitFor();
        await page.getByText('give Redis more memory').waitFor();
      } finally {
        await full.stop();
      }
    }));

  it('a channel of alerts is created and tested, a rule is changed, and the alert that it opens is shown', () =>
    withPage(async (page) => {
      const receiver = await Receiver.start();
      try {
        await open(page, `${service.url}/alerts?tab=channels`);
        await page.getByRole('button', { name: 'Create channel' }).click();
        const form = dialog(page, 'Create channel');
        await form.getByLabel('Name').fill('pager');
        await form.getByLabel('Kind').selectOption('webhook');
        await form.getByLabel('URL').fill(receiver.url('/alerts'));
        await form.getByRole('button', { name: 'Create channel' }).click();
        const created = dialog(page, 'Channel created');
        await created.getByText(/^whsec_/).waitFor();
        await created.getByRole('button', { name: 'Done' }).click();
        await page.getByRole('button', { name: 'Send test' }).click();
        await page.getByText('Test accepted: 200: ok').waitFor();
        expect(receiver.at('/alerts')).to.have.length(1);
        receiver.on('/alerts', () => ({ status: 403, body: 'no such receiver' }));
        await page.getByRole('button', { name: 'Send test' }).click();
        await page.getByText('Test failed: 403: no such receiver').waitFor();
        await expectAccessible(page);
        await page.getByRole('navigation', { name: 'Alerts' }).getByRole('link', { name: 'Rules' }).click();
        await page.getByRole('button', { name: 'Change' }).nth(RULE_IDS.indexOf('no_worker')).click();
        const rule = dialog(page, 'Too few workers');
        await rule.getByLabel('Window').fill('0');
        await rule.getByRole('button', { name: 'Save' }).click();
        await page.getByText('changed', { exact: true }).waitFor();
        await page.getByRole('navigation', { name: 'Alerts' }).getByRole('link', { name: 'Open' }).click();
        await page.getByRole('link', { name: 'Too few workers' }).waitFor();
        await expectAccessible(page);
      } finally {
        await receiver.stop();
      }
    }));

  it('the overview shows the outbox of an app, and says what waits for a person', () =>
    withPage(async (page) => {
      const key = service.keys.outboxStatus;
      try {
        const counts = { waiting: 17, refused: 2, uncertain: 0, bytes: 8192, problem: '' };
        await service.redis.hset(key, { ...counts, oldest: Date.now() - 65_000 });
        await open(page, service.url);
        await page.getByText('Waiting events', { exact: true }).waitFor();
        await page.getByText('tidegate outbox list shows them').waitFor();
        expect(await violations(page)).to.deep.equal([]);
        await service.redis.hset(key, { problem: 'the database of the outbox: connect ECONNREFUSED' });
        await open(page, service.url);
        await page.getByText('connect ECONNREFUSED').waitFor();
      } finally {
        await service.redis.del(key);
      }
    }));

  it('the send dialog links to a sent event that is not stored yet', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/events`);
      await page.getByRole('button', { name: 'Send event' }).click();
      const sendDialog = dialog(page, 'Send event');
      await sendDialog.getByRole('button', { name: 'Send to production' }).click();
      await sendDialog.getByRole('button', { name: 'Sending…' }).waitFor();
      await sendDialog.getByRole('link', { name: /^[0-9A-Z]{26}$/ }).waitFor();
      expect(new URL(page.url()).pathname).to.equal('/events');
    }));

  it('the function page pauses a function after confirmation, and resumes it', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/functions/depot-pack`);
      const paused = async () => (await service.get('/v1/functions/depot-pack')).body.data.paused_at !== null;
      await page.getByRole('button', { name: 'Pause', exact: true }).click();
      expect(await paused()).to.equal(false);
      await dialog(page, 'Pause pack?').getByRole('button', { name: 'Pause', exact: true }).click();
      await page.getByRole('button', { name: 'Resume' }).waitFor();
      expect(await paused()).to.equal(true);
      await page.getByRole('button', { name: 'Resume' }).click();
      await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
    }));

  it('the function page pauses a function and holds its queued runs', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/functions/depot-pack`);
      await page.getByRole('button', { name: 'Pause', exact: true }).click();
      const pause = dialog(page, 'Pause pack?');
      expect(await pause.getByLabel('Let them run').isChecked()).to.equal(true);
      await pause.getByLabel('Hold them').check();
      expect(await violations(page)).to.deep.equal([]);
      await pause.getByRole('button', { name: 'Pause', exact: true }).click();
      await page.getByText('its queued runs are held').waitFor();
      expect((await service.get('/v1/functions/depot-pack')).body.data.queued_runs).to.equal('hold');
      await page.getByRole('button', { name: 'Resume' }).click();
      await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
    }));

  it('the app page lists the connections of an app that connects', () =>
    withPage(async (page) => {
      const functions = [{ id: 'load', triggers: [{ event: 'order/placed' }] }];
      const options = { app: 'dock', instanceId: 'dock-7', functions };
      const instance = await ConnectedInstance.connect(service.url, options);
      await open(page, `${service.url}/apps/dock`);
      await page.getByRole('listitem').filter({ hasText: 'dock-7' }).getByText('Ready').waitFor();
      expect(await page.getByRole('button', { name: 'Re-register' }).count()).to.equal(0);
      await page.getByRole('button', { name: 'Run check' }).click();
      await page.getByText('An instance is connected').waitFor();
      await instance.close();
    }));

  it('an app with options that have no effect has a badge, and its page lists the options', () =>
    withPage(async (page) => {
      const app = await startAppHost();
      const functions = [{ id: 'sort', triggers: [{ event: 'order/sorted' }], region: 'eu', tenant: 'a' }];
      await app.register(service, functions, { appName: 'silo' });
      await open(page, `${service.url}/apps`);
      await page.getByRole('row').filter({ hasText: 'silo' }).getByText('2 options ignored').waitFor();
      await open(page, `${service.url}/apps/silo`);
      await page.getByText('silo-sort: region').waitFor();
      await page.getByText('silo-sort: tenant').waitFor();
      expect(await violations(page)).to.deep.equal([]);
      await service.request('DELETE', '/v1/apps/silo');
      await app.close();
    }));

  it('creating an event key shows its secret once', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/keys`);
      await page.getByRole('button', { name: 'Create event key' }).click();
      await dialog(page, 'Create event key').getByLabel('Name', { exact: true }).fill('Depot');
      await page.getByRole('button', { name: 'Create key' }).click();
      const shown = dialog(page, 'Event key created');
      const secret = await shown.locator('pre').first().innerText();
      const { status } = await service.post(`/e/${secret}`, { name: 'order/placed', data: {} });
      expect(status).to.equal(200);
      await shown.getByRole('button', { name: 'Done' }).click();
      await page.getByRole('row').filter({ hasText: 'Depot' }).waitFor();
      expect(await page.getByText(secret).count()).to.equal(0);
    }));

  it('the health check of an unreachable app shows the problem and a fix', () =>
    withPage(async (page) => {
      const app = await startAppHost();
      await app.register(service, [{ id: 'sort', triggers: [{ event: 'order/sorted' }] }], { appName: 'mill' });
      await open(page, `${service.url}/apps/mill`);
      const check = page.getByRole('button', { name: 'Run check' });
      await check.click();
      await page.getByText('Status 200').waitFor();
      await app.close();
      await check.click();
      await page.getByText('No response from the app').waitFor();
      await page.getByText('Fix:').waitFor();
    }));

  it('registering a URL without an app shows the error in the dialog', () =>
    withPage(
      async (page) => {
        await open(page, `${service.url}/apps`);
        await page.getByRole('button', { name: 'Register app' }).click();
        await dialog(page, 'Register app').getByLabel('App URL').fill(`${service.url}/livez`);
        await dialog(page, 'Register app').getByRole('button', { name: 'Register' }).click();
        await dialog(page, 'Register app').getByRole('alert').waitFor();
      },
      { forgive: /v1\/apps/ },
    ));
});
