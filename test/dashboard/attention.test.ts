import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { addUser } from '../support/auth.ts';
import { browserForSuite, open, signIn } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { make, send } from './fixtures.ts';

const ADMIN = 'ada@example.com';
/** Notifications as the page asks for them. */
const RECORDED = `
  window.shown = [];
  window.Notification = class {
    static permission = 'granted';
    static requestPermission = async () => 'granted';
    constructor(_title, { body }) {
      shown.push(body);
    }
  };
  document.hasFocus = () => false;
`;
/** A tab asks for the lock once it collects what to show. */
const IS_LISTENING = 'navigator.locks.query().then(({ held }) => held.length > 0)';
const FAILING = { status: 400, headers: { 'x-service-no-retry': 'true' }, body: { message: 'no' } };

describe('Attention in the dashboard', () => {
  const withPage = browserForSuite();
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService();
    host = await startAppHost();
    host.on('refuse', () => FAILING);
    await host.register(service, [{ id: 'refuse', triggers: [{ event: 'order/placed' }], retries: 0 }]);
  });
  after(async () => {
    await service.stop();
    await host.close();
  });

  it('the overview says in one line that nothing needs a person', () =>
    withPage(async (page) => {
      await open(page, service.url);
      await page.getByText('Nothing needs you.').waitFor();
      expect(await page.getByRole('list', { name: 'Needs attention' }).count()).to.equal(0);
      const tile = page.getByRole('region', { name: 'Oldest waiting job' });
      expect(await tile.innerText()).not.to.match(/failed/);
    }));

  it('the overview begins with the open alerts of the environment, each with a link to what is behind it', () =>
    withPage(async (page) => {
      const alert = { id: 'a1', rule: 'backlog_old', title: 'Queue is late', severity: 'critical', state: 'open' };
      const about = { subject: 'runs', subject_name: 'runs', detail: 'the oldest of 9 jobs has waited for 5 min' };
      const times = { since: '2026-01-01T00:00:00Z', opened_at: '2026-01-01T00:00:00Z', resolved_at: null };
      const data = [
        { ...alert, ...about, value: 300, threshold: 60, unit: 'seconds', ...times, path: '/runs?status=Failed' },
      ];
      await page.route('**/v1/alerts?**', (route) => route.fulfill({ json: { data, metadata: {} } }));
      await open(page, service.url);
      const cards = page.getByRole('list', { name: 'Needs attention' });
      await cards.getByRole('link', { name: /Queue is late: runs.*waited for 5 min/ }).click();
      await page.waitForURL('**/runs?status=Failed');
    }));

  it('the overview names the functions whose calls a limit has held back for long, with a link to the limit', () =>
    withPage(async (page) => {
      await page.route('**/v1/overview*', async (route) => {
        const response = await route.fetch();
        const json = await response.json();
        const since = new Date(Date.now() - 600_000).toISOString();
        json.data.limit_holds = [{ function_id: 'test-app-refuse', name: 'refuse', waiting: 12, since }];
        await route.fulfill({ response, json });
      });
      await open(page, service.url);
      const cards = page.getByRole('list', { name: 'Needs attention' });
      await cards.getByRole('link', { name: /refuse waits for a limit.*12 calls, the first for 10 min/ }).click();
      await page.waitForURL('**/functions/test-app-refuse*');
    }));

  it('navigation and overview count failed runs, held events and rejected requests as they happen', () =>
    withPage(async (page) => {
      await open(page, service.url);
      const transform =
        'function transform(evt) { if (evt.bad) throw new Error("no"); return { name: "x", data: {} }; }';
      const { url } = await make(service, '/v1/webhooks', { name: 'Orders', transform });
      await service.post(new URL(url).pathname, {}, { 'x-service-env': 'nowhere' });
      await service.post(new URL(url).pathname, { bad: true });
      await send(service, { name: 'order/placed', data: {} });
      const pages = page.getByRole('navigation', { name: 'Pages' });
      await pages.getByRole('link', { name: 'Held events 1 held' }).waitFor();
      await pages.getByRole('link', { name: 'Runs 1 failed in the last hour' }).waitFor();
      const cards = page.getByRole('list', { name: 'Needs attention' });
      await cards.getByRole('link', { name: /1 held event|Held events 1 wait/ }).waitFor();
      await cards.getByRole('link', { name: /1 rejected webhook request/ }).waitFor();
      await cards.getByRole('link', { name: /1 open error|New error/ }).waitFor();
      await page.getByRole('region', { name: 'Failure rate' }).getByText('1 run failed').waitFor();
    }));

  it('a browser with notifications turned on shows a failed run while nobody looks at the page', () =>
    withPage(
      async (page) => {
        await page.addInitScript(RECORDED);
        await open(page, `${service.url}/account`);
        await page.getByRole('button', { name: 'Turn on' }).click();
        await page.getByRole('button', { name: 'Turn off' }).waitFor();
        await until(() => page.evaluate(IS_LISTENING), { describe: 'a tab that shows notifications' });
        await send(service, { name: 'order/placed', data: {} });
        const shown = await until(() => page.evaluate('shown[0]'), { describe: 'a notification', timeoutMs: 30_000 });
        expect(shown).to.match(/^1 run failed: .*refuse$/);
        await page.getByRole('button', { name: 'Turn off' }).click();
        await page.getByRole('button', { name: 'Turn on' }).waitFor();
      },
      { permissions: ['notifications'] },
    ));
});

describe('Getting started in the dashboard', () => {
  const withPage = browserForSuite();
  let host: AppHost;
  before(async () => {
    host = await startAppHost();
    host.on('pack', () => ({ body: 'packed' }));
  });
  after(() => host.close());

  describe('in production', () => {
    let service: Service;
    before(async () => {
      service = await startService({ dev: false });
      await addUser(service, ADMIN, 'admin');
    });
    after(() => service.stop());

    it('a checklist ticks its items until the first run, then disappears', () =>
      withPage(async (page) => {
        await page.goto(service.url);
        await signIn(page, ADMIN);
        const tasks = page.getByRole('listitem');
        const isDone = (title: string) => tasks.filter({ hasText: `${title}, done` }).waitFor();
        await tasks.filter({ hasText: 'Register the app, to do' }).waitFor();
        await make(service, '/v1/event-keys', { name: 'Shop' });
        await isDone('Create an event key');
        await page.getByRole('link', { name: 'Do it: Create an event key' }).waitFor({ state: 'detached' });
        await page.getByRole('link', { name: 'Do it: Register the app' }).waitFor();
        await host.register(service, [{ id: 'pack', triggers: [{ event: 'order/placed' }] }]);
        await isDone('Register the app');
        await service.post(service.eventPath, { name: 'other', data: {} });
        await isDone('Send the first event');
        await service.post(service.eventPath, { name: 'order/placed', data: {} });
        await page.getByText(/^Get started/).waitFor({ state: 'detached' });
      }));

    it('a held registration is announced, rejected or confirmed, and its origins are shown and changed', () =>
      withPage(
        async (page) => {
          await host.register(service, [{ id: 'pack', triggers: [{ event: 'order/placed' }] }]);
          const [{ name }] = (await service.get('/v1/apps')).body.data;
          const url = host.url.replace('127.0.0.1', 'localhost');
          const hold = () => service.post('/fn/register', { appName: name, url, functions: [] }, service.appHeaders);
          await hold();
          await page.goto(service.url);
          await signIn(page, ADMIN);
          await page.getByRole('link', { name: /1 registration to confirm/ }).click();
          await page.getByRole('link', { name: 'Apps 1 waiting for confirmation' }).waitFor();
          await page.getByText(`Now at ${host.url}`).waitFor();
          await page.getByRole('button', { name: 'Reject' }).click();
          await page.getByRole('heading', { name: 'Waiting for confirmation' }).waitFor({ state: 'detached' });
          await hold();
          await page.goto(`${service.url}/apps/${name}`);
          await page.getByRole('button', { name: 'Confirm' }).click();
          await page.getByRole('dialog').getByRole('button', { name: 'Confirm' }).click();
          await page.getByRole('heading', { name: 'Waiting for confirmation' }).waitFor({ state: 'detached' });
          const card = page.locator('section').filter({ hasText: 'Allowed origins' });
          await card.getByRole('listitem').getByText(new URL(url).origin).waitFor();
          await card.getByRole('button', { name: 'Edit origins' }).click();
          const dialog = page.getByRole('dialog');
          await dialog.getByLabel('Origins', { exact: true }).fill('https://*.com');
          await dialog.getByRole('button', { name: 'Save' }).click();
          await dialog.getByText(/one "\*" in a label/).waitFor();
          await dialog.getByLabel('Origins', { exact: true }).fill('https://shop-*-acme.example.app');
          await dialog.getByRole('button', { name: 'Save' }).click();
          await card.getByRole('listitem').getByText('https://shop-*-acme.example.app').waitFor();
          const { data } = (await service.get('/v1/allowed-origins')).body;
          expect(data).to.deep.equal([{ app: name, origins: ['https://shop-*-acme.example.app'] }]);
        },
        { forgive: /400 .*\/v1\/allowed-origins/ },
      ));
  });

  it('in dev mode, the first command sends an event that runs a function', async () => {
    const service = await startService();
    try {
      await host.register(service, [{ id: 'pack', name: 'Pack', triggers: [{ event: 'order/placed' }] }]);
      await withPage(async (page) => {
        await open(page, service.url);
        await page.getByText('It runs Pack.').waitFor();
        expect(await page.locator('pre').first().innerText()).to.include('"name":"order/placed"');
      });
    } finally {
      await service.stop();
    }
  });
});
