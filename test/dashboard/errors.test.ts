import { expect } from 'chai';
import { type AppHost, type Call, startAppHost } from '../support/app-host.ts';
import { browserForSuite, open } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';
import { expectAccessible } from './accessible.ts';

const STEP = 'a'.repeat(40);
const FINAL = { status: 400, headers: { 'x-service-no-retry': 'true' } };
const PHONE = { width: 390, height: 844 };

const NODE = `DeclinedError: card declined
    at charge (file:///app/src/a-folder-with-a-long-name/another-folder-with-a-long-name/charge.ts:12:9)
    at runStep (/app/node_modules/tidegate/dist/step.js:10:3)
    at async run (/app/node_modules/tidegate/dist/run.js:20:3)
    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)`;
const PYTHON = `Traceback (most recent call last):
  File "/usr/lib/python3.12/site-packages/tidegate/_steps/run.py", line 8, in run
    await fn()
  File "/app/shop/charge.py", line 12, in charge
    raise ValueError("no stock")
ValueError: no stock`;
const GO = `goroutine 21 [running]:
runtime/debug.Stack()
\t/usr/local/go/src/runtime/debug/stack.go:26 +0x5e
main.reserve({0x1, 0x2})
\t/src/shop/reserve.go:12 +0x1d`;

describe('Errors in the dashboard', function () {
  this.timeout(120_000);
  const withPage = browserForSuite({ onePage: true });
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService();
    host = await startAppHost();
    const step = (error: object) => ({
      status: 206,
      body: [{ id: STEP, op: 'StepFailed', name: 'charge card', error }],
    });
    const cause = { name: 'SocketError', message: 'reset by peer', stack: GO };
    const declined = { name: 'DeclinedError', message: 'card 42 declined', stack: NODE, cause };
    host.on('charge', ({ body }: Call) =>
      body.ctx.stack.stack.length > 0 ? { ...FINAL, body: declined } : step(declined),
    );
    host.on('reserve', () => ({ ...FINAL, body: { name: 'ValueError', message: 'no stock', stack: PYTHON } }));
    const lines = [11, 12, 13].map((line) => ({ line, text: `  const line = ${line};` }));
    const source = { file: '/app/src/charge.ts', line: 12, lines };
    host.on('sourced', () => ({ ...FINAL, body: { name: 'Error', message: 'no', source } }));
    host.on('ignored', () => ({ ...FINAL, body: { name: 'Error', message: 'beside the point' } }));
    const functions = ['charge', 'reserve', 'sourced', 'ignored'].map((id) => ({
      id,
      triggers: [{ event: `shop/${id}` }],
      retries: 3,
    }));
    await host.register(service, functions, { appName: 'shop' });
  });
  after(async () => {
    await service.stop();
    await host.close();
  });

  /** @returns ID of the run, once it has failed */
  async function fail(id: string, fields: object = {}): Promise<string> {
    const [eventId] = (await service.post('/e/key', { name: `shop/${id}`, data: {}, ...fields })).body.ids;
    const path = `/v1/events/${eventId}/runs`;
    const { body } = await service.waitFor(path, ({ body: { data } }) => data?.[0]?.status === 'Failed');
    return body.data[0].run_id;
  }

  it('the page of a failed run begins with the failed step, with own frames open and those of libraries folded', () =>
    withPage(async (page) => {
      const id = await fail('charge');
      await open(page, `${service.url}/runs/${id}`);
      const card = page.locator('section').first();
      await card.getByRole('heading', { name: 'Error' }).waitFor();
      await card.getByText('Step charge card failed on attempt 1 of 4').waitFor();
      await card.getByText('charge.ts:12:9').first().waitFor();
      const folded = card.getByText('3 frames of tidegate, node:internal').first();
      const frame = card.getByText('/app/node_modules/tidegate/dist/step.js:10:3').first();
      expect(await frame.isVisible()).to.equal(false);
      await folded.click();
      await frame.waitFor();
      const cause = card.getByText('Caused by').locator('..');
      await cause.getByText('SocketError: reset by peer').waitFor();
      await cause.getByText('main.reserve').waitFor();
      await cause.getByText('1 frame of Go').waitFor();
      await card.getByRole('link', { name: 'Show in timeline' }).click();
      await page.locator('button[aria-expanded=true]', { hasText: 'charge card' }).waitFor();
    }));

  it('a Python stack names the last call, and shows its source', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/runs/${await fail('reserve')}`);
      const card = page.locator('section').first();
      await card.getByText('The function failed on attempt 1 of 4').waitFor();
      await card.getByText('Stack trace, most recent call last').waitFor();
      await card.getByText('raise ValueError("no stock")').waitFor();
      await card.getByText('1 frame of tidegate').waitFor();
    }));

  it('shows the line of source code that a client sent, with its neighbors', () =>
    withPage(async (page) => {
      const id = await fail('sourced');
      await open(page, `${service.url}/runs/${id}`);
      const figure = page.getByRole('figure');
      await figure.getByText('/app/src/charge.ts:12', { exact: true }).waitFor();
      await figure.getByText('› 12   const line = 12;').waitFor();
      await figure.getByText('13   const line = 13;').waitFor();
      await expectAccessible(page);
    }));

  it('on a phone, file and line of a frame are read without scrolling, and the copy button covers neither', () =>
    withPage(
      async (page) => {
        await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
        await open(page, `${service.url}/runs/${await fail('charge')}`);
        const where = page.getByText('charge.ts:12:9').first();
        const place = await where.boundingBox();
        const copy = page.getByRole('button', { name: 'Copy stack trace' }).first();
        const button = await copy.boundingBox();
        if (!place || !button) throw new Error('the frame or the button is not there');
        expect(place.x + place.width).to.be.at.most(PHONE.width);
        expect(button.y + button.height).to.be.at.most(place.y);
        await copy.click();
        await page.getByText('Copied').first().waitFor({ state: 'attached' });
        expect(await page.evaluate<string>('navigator.clipboard.readText()')).to.equal(NODE);
        expect(await page.evaluate<number>('document.documentElement.scrollWidth')).to.be.at.most(PHONE.width);
      },
      { viewport: PHONE },
    ));

  it('runs that fail for the same reason are one error on the overview, the function page and the errors page', () =>
    withPage(async (page) => {
      const before = (await service.get('/v1/errors?function_id=shop-charge')).body.data[0]?.count ?? 0;
      await open(page, `${service.url}/errors`);
      await fail('charge');
      await fail('charge');
      const errors = page.getByRole('list', { name: 'Errors' });
      const row = errors.getByRole('listitem').filter({ hasText: 'card 42 declined' });
      await row.getByText(`${before + 2} ×`).waitFor();
      await row.getByRole('img', { name: new RegExp(`^${before + 2} in the last 7 days`) }).waitFor();
      for (const path of ['/', '/functions/shop-charge']) {
        await open(page, service.url + path);
        await errors.getByText(`${before + 2} ×`).waitFor();
        await errors.getByText(/DeclinedError.*, step charge card/).waitFor();
      }
      await errors.getByRole('link', { name: 'card 42 declined' }).click();
      await page.getByRole('heading', { level: 1, name: 'card 42 declined' }).waitFor();
      const runs = page.getByRole('list', { name: 'Last failed runs' });
      await runs
        .getByRole('listitem')
        .nth(before + 1)
        .waitFor();
      expect(await runs.getByRole('listitem').count()).to.equal(before + 2);
      await page.getByRole('link', { name: 'All failed runs', exact: true }).click();
      await page.getByRole('button', { name: 'Error: card 42 declined' }).waitFor();
      await page.getByRole('table').getByRole('link', { name: 'charge', exact: true }).first().waitFor();
      expect(
        await page
          .getByRole('table')
          .getByRole('link', { name: /reserve/ })
          .count(),
      ).to.equal(0);
      await page.getByRole('button', { name: 'Error: card 42 declined' }).click();
      await page.getByRole('button', { name: 'Error: card 42 declined' }).waitFor({ state: 'detached' });
    }));

  it('a resolved error leaves the list of open errors, and returns with the next failure', () =>
    withPage(async (page) => {
      await fail('reserve');
      await open(page, `${service.url}/errors?function=shop-reserve`);
      const row = page.getByRole('list', { name: 'Errors' }).getByRole('listitem').filter({ hasText: 'no stock' });
      await row.getByRole('button', { name: 'Resolve' }).click();
      await page.getByText('No open errors').waitFor();
      await page.getByRole('button', { name: 'Resolved', exact: true }).click();
      await row.waitFor();
      await page.getByRole('button', { name: 'Open', exact: true }).click();
      await page.getByText('No open errors').waitFor();
      await fail('reserve');
      await row.getByRole('button', { name: 'Ignore' }).waitFor();
      await row.getByRole('link', { name: 'no stock' }).click();
      await page.getByText('Reopened').waitFor();
    }));

  it('the page of an error has its message as title, its code, the events of its runs, and who is hit', () =>
    withPage(async (page) => {
      for (const id of ['u-1', 'u-2', 'u-1']) await fail('sourced', { user: { id } });
      const { body } = await service.waitFor(
        '/v1/errors?function_id=shop-sourced',
        ({ body: { data } }) => data[0]?.count >= 3,
      );
      await open(page, `${service.url}/errors/${body.data[0].fingerprint}`);
      await page.getByRole('heading', { level: 1, name: 'no', exact: true }).waitFor();
      await page.getByRole('figure').getByText('› 12   const line = 12;').waitFor();
      const runs = page.getByRole('list', { name: 'Last failed runs' });
      await runs.getByText('shop/sourced').first().waitFor();
      await runs.getByText('u-2', { exact: true }).waitFor();
      await page.getByText('2: u-1, u-2').waitFor();
      for (let n = 0; n < 30; n++) await fail('sourced', { user: n < 10 ? { id: `u-${n + 10}` } : { id: 'u-1' } });
      await page.getByText('about 12: u-1 and others').waitFor();
      await fail('sourced');
      await page.getByText('Known for 33 of 34 failed runs').waitFor();
    }));

  it('after a deploy, all failed runs of an error are re-run with the newer code', () =>
    withPage(async (page) => {
      const functions = (retries: number) => [{ id: 'mended', triggers: [{ event: 'shop/mended' }], retries }];
      const register = (retries: number) => host.register(service, functions(retries), { appName: 'mending' });
      host.on('mended', () => ({ ...FINAL, body: { name: 'Error', message: 'no price' } }));
      await register(0);
      await fail('mended');
      const path = '/v1/errors?function_id=mending-mended';
      const { body } = await service.waitFor(path, ({ body: { data } }) => data.length > 0);
      await open(page, `${service.url}/errors/${body.data[0].fingerprint}`);
      await page.getByRole('button', { name: 'Re-run all…' }).waitFor();
      host.on('mended', () => ({ body: 'sent' }));
      await register(1);
      await page.reload();
      await page.getByText('Deploy since the last failure').waitFor();
      await page.getByRole('button', { name: 'Re-run all with the newer code…' }).click();
      await page.getByRole('button', { name: 'Re-run: 1 run' }).click();
      await service.waitFor(
        '/v1/runs?function_id=mending-mended&status=Completed',
        ({ body: { data } }) => data.length === 1,
      );
      await page.getByRole('button', { name: 'Re-run all with the newer code…' }).click();
      const again = page.getByRole('dialog', { name: 'Re-run: 0 runs?' });
      await again.getByText('1 already re-run').waitFor();
      expect(await again.getByRole('button', { name: 'Re-run: 0 runs' }).isDisabled()).to.equal(true);
      await again.getByRole('checkbox', { name: 'Also re-run the 1 run' }).check();
      expect(await page.getByRole('button', { name: 'Re-run: 1 run' }).isEnabled()).to.equal(true);
    }));

  it('an ignored error stays away from the list of open errors though runs fail with it', () =>
    withPage(async (page) => {
      const id = await fail('ignored');
      await open(page, `${service.url}/errors?function=shop-ignored`);
      const row = page
        .getByRole('list', { name: 'Errors' })
        .getByRole('listitem')
        .filter({ hasText: 'beside the point' });
      await row.getByRole('button', { name: 'Ignore' }).click();
      await page.getByText('No open errors').waitFor();
      await fail('ignored');
      await page.getByRole('button', { name: 'Ignored', exact: true }).click();
      await row.getByText('2 ×').waitFor();
      const { fingerprint } = (await service.get(`/v1/runs/${id}`)).body.data;
      expect((await service.get(`/v1/errors/${fingerprint}`)).body.data.state).to.equal('ignored');
    }));

  it('an error is assigned to an alert channel, which hears of it', () =>
    withPage(async (page) => {
      await fail('reserve');
      await service.post('/v1/alert-channels', { name: 'stock', kind: 'webhook', url: 'https://example.com/hook' });
      const { body } = await service.waitFor(
        '/v1/errors?function_id=shop-reserve',
        ({ body: { data } }) => data.length > 0,
      );
      await open(page, `${service.url}/errors/${body.data[0].fingerprint}`);
      await page.getByRole('button', { name: 'Assign to channels…' }).click();
      await page.getByLabel('Those of the rule “New error”').uncheck();
      await page.getByLabel('stock').check();
      await page.getByRole('button', { name: 'Assign', exact: true }).click();
      await page.getByText('stock whenever a run fails with it.').waitFor();
    }));

  it('axe finds no violations on the pages of errors in light mode, in dark mode and on a phone', () =>
    withPage(async (page) => {
      const id = await fail('charge');
      const { body } = await service.waitFor('/v1/errors', ({ body: { data } }) => data.length > 0);
      for (const path of ['/errors', '/errors?state=all', `/errors/${body.data[0].fingerprint}`, `/runs/${id}`]) {
        await open(page, service.url + path);
        await expectAccessible(page);
      }
    }));
});
