import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { browserForSuite, open, write } from '../support/browser.ts';
import { request } from '../support/http.ts';
import { type Service, startService } from '../support/service.ts';

const TRANSFORM = `function transform(evt, headers) {
  console.log('seen', evt.repository.full_name);
  return { name: 'github/' + headers['X-Github-Event'], id: headers['X-Github-Delivery'], data: evt };
}`;
const PUSH = { ref: 'refs/heads/main', repository: { full_name: 'ada/engine' } };
const HEADERS = { 'x-github-event': 'push', 'x-github-delivery': 'delivery-1' };
const PASTED = `POST /hook HTTP/1.1
Content-Type: application/json
X-GitHub-Event: push
X-GitHub-Delivery: delivery-0

${JSON.stringify(PUSH)}`;
const ERROR = {
  name: 'DiskFull',
  message: 'no space left',
  stack: 'DiskFull: no space left\n    at build (/app/build.ts:3:7)',
};

/** One scenario in steps: each test continues where the previous one ended. */
describe('From a new webhook to a re-run in the dashboard', () => {
  const withPage = browserForSuite({ onePage: true });
  let service: Service;
  let host: AppHost;
  let webhook: string;
  let address: string;
  let run: string;

  before(async () => {
    service = await startService();
    host = await startAppHost();
    host.on('build', ({ number }) => (number < 2 ? { status: 500, body: ERROR } : { body: { built: true } }));
    const build = { id: 'build', triggers: [{ event: 'github/push' }], retries: 1 };
    await host.register(service, [build], { appName: 'ci' });
  });
  after(async () => {
    await service.stop();
    await host.close();
  });

  it('workbench: creates a webhook and saves a transform with a live preview of a pasted request', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/webhooks`);
      await page.getByRole('button', { name: 'Create webhook' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'No provider' }).click();
      await page.getByLabel('Name').fill('GitHub');
      await page.getByRole('button', { name: 'Create', exact: true }).click();
      await page.waitForURL('**/webhooks/*');
      webhook = page.url();
      await page.getByRole('button', { name: 'Show URL' }).click();
      address = await page.locator('code').filter({ hasText: '/e/' }).innerText();
      await paste(page, PASTED);
      await write(page.getByRole('textbox', { name: 'Transform' }), TRANSFORM);
      await page.getByText('delivery-0').waitFor();
      await page.getByText('seen ada/engine').waitFor();
      expect(await page.getByRole('definition').allInnerTexts()).to.include('github/push');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Transform saved').waitFor();
    }));

  it('event list: shows the event of a webhook request without a reload', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/events`);
      const response = await request('POST', address, { body: PUSH, headers: HEADERS });
      expect(response.status, JSON.stringify(response.body)).to.equal(200);
      const row = page.getByRole('row').filter({ hasText: 'github/push' });
      await row.waitFor();
      await row.getByRole('link', { name: /Running|Queued/ }).click();
      await page.waitForURL('**/runs/*');
      run = page.url();
    }));

  it('run page: shows the failed attempt and the next one; Retry now starts it', () =>
    withPage(async (page) => {
      await open(page, run);
      await page.getByText(/Attempt 2 of 2 starts in/).waitFor();
      const attempts = page.getByRole('list', { name: 'Steps and attempts' }).getByRole('listitem');
      await attempts.filter({ hasText: 'Attempt 1 failed' }).locator('[aria-expanded]').click();
      await attempts.getByText('/app/build.ts:3:7').first().waitFor();
      await page.getByRole('button', { name: 'Retry now' }).click();
      await attempts.filter({ hasText: 'Attempt 2 failed' }).waitFor();
      await fact(page, 'Status', 'Failed').waitFor();
    }));

  it('run page: re-runs the failed run, which completes', () =>
    withPage(async (page) => {
      await open(page, run);
      await page.getByRole('button', { name: 'Re-run', exact: true }).click();
      await page.waitForURL((url) => url.pathname.startsWith('/runs/') && url.href !== run);
      await fact(page, 'Status', 'Completed').waitFor();
      await page.getByRole('region', { name: 'Function output' }).getByText('built').waitFor();
    }));

  it('request log: re-runs the webhook request', () =>
    withPage(async (page) => {
      await open(page, `${webhook.split('?')[0]}?tab=requests`);
      await page.getByRole('table', { name: 'Requests' }).getByRole('link', { name: 'github/push' }).click();
      await fact(page, 'Response', /^200 in/).waitFor();
      await page.getByRole('button', { name: 'Re-run' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Re-run' }).click();
      await page.getByRole('dialog', { name: 'Request re-run' }).getByRole('link', { name: 'Open event' }).click();
      await page.getByRole('heading', { level: 1, name: 'github/push' }).waitFor();
    }));
});

/** Pastes a raw HTTP request into the workbench. */
async function paste(page: Page, text: string): Promise<void> {
  await page.getByRole('button', { name: 'Paste request' }).click();
  const dialog = page.getByRole('dialog', { name: 'Paste request' });
  await dialog.getByRole('textbox', { name: 'Request' }).fill(text);
  await dialog.getByRole('button', { name: 'Use request' }).click();
}

/** A value in the page's description list. */
function fact(page: Page, name: string, value: string | RegExp): Locator {
  const term = page.getByRole('term').filter({ hasText: name });
  return page.locator('dl > div').filter({ has: term }).getByText(value, { exact: true });
}
