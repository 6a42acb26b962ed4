import { expect } from 'chai';
import type { Page, Response } from 'playwright-core';
import { browserForSuite, open, settled } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { expectAccessible } from './accessible.ts';
import { declaredPaths, resourcePages, STATIC_PAGES } from './pages.ts';

const FIRST_LOAD_BYTES = 250_000;

describe('The frame of the dashboard', () => {
  const withPage = browserForSuite({ onePage: true });
  let service: Service;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  it('the first load is below 250 kB and excludes the editor, the charts and the command palette', () =>
    withPage(async (page) => {
      const responses: Response[] = [];
      page.on('response', (response) => {
        // It does not end.
        if (!response.url().endsWith('/v1/stream')) responses.push(response);
      });
      await open(page, `${service.url}/users`);
      const sizes = await Promise.all(responses.map(sizeOf));
      const bytes = sizes.reduce((sum, size) => sum + size, 0);
      expect(bytes).to.be.within(1_000, FIRST_LOAD_BYTES);
      const names = responses.map((response) => new URL(response.url()).pathname);
      expect(names.filter((name) => /code-mirror|uplot|command-palette/i.test(name))).to.deep.equal([]);
    }));

  it('the navigation opens every page and sets the title of the tab', () =>
    withPage(async (page) => {
      await open(page, service.url);
      const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
      for (const link of await links.all()) {
        const name = await link.innerText();
        await link.click();
        await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
        await until(async () => (await page.title()) === `${name} · Tidegate`, { describe: `tab title is ${name}` });
        await settled(page);
      }
      // The account is at the user's name.
      const pages = STATIC_PAGES.filter((path) => !path.includes('?') && path !== '/account');
      expect(await links.count()).to.equal(pages.length);
    }));

  it('keyboard shortcuts open the command palette, pages and the list of shortcuts', () =>
    withPage(async (page) => {
      await open(page, service.url);
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Jump to' }).fill('audit');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: 'Audit log' }).waitFor();
      await page.keyboard.press('g');
      await page.keyboard.press('k');
      await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
      await page.keyboard.press('?');
      await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor({ state: 'hidden' });
    }));

  it('the theme follows the system or a stored choice', () =>
    withPage(
      async (page) => {
        const theme = () => page.locator('html').getAttribute('data-theme');
        await open(page, service.url);
        expect(await theme()).to.equal('dark');
        await page.getByRole('button', { name: 'Switch to light' }).click();
        expect(await theme()).to.equal('light');
        await page.reload();
        expect(await theme()).to.equal('light');
      },
      { colorScheme: 'dark' },
    ));

  it('the navigation keeps the environment in the URL', () =>
    withPage(async (page) => {
      await service.post('/v1/environments', { name: 'feature', kind: 'branch' });
      await open(page, service.url);
      await page.getByRole('combobox', { name: 'Environment' }).selectOption('feature');
      await menu(page, 'Events').click();
      await page.waitForURL('**/events?env=feature');
      expect(await page.getByRole('combobox', { name: 'Environment' }).inputValue()).to.equal('feature');
    }));

  it('an unknown environment in the URL is one sentence, with a way to production', () =>
    withPage(
      async (page) => {
        await page.goto(`${service.url}/runs?env=nowhere`);
        await page.getByText('There is no environment nowhere').waitFor();
        await page.getByRole('alert').waitFor({ state: 'detached' });
        await expectAccessible(page);
        await page.getByRole('link', { name: 'go to production' }).click();
        await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor();
        expect(new URL(page.url()).search).to.equal('');
      },
      { forgive: /404/ },
    ));

  it('an unknown path shows the not-found page', () =>
    withPage(
      async (page) => {
        await page.goto(`${service.url}/events/a/b/c`);
        await page.getByRole('heading', { name: 'Page not found' }).waitFor();
        await page.getByRole('link', { name: 'Go to the overview' }).click();
        await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      },
      { forgive: /404/ },
    ));

  it('tests cover every declared route', () => {
    const id = '$id';
    const visited = resourcePages({
      eventId: id,
      webhookEventId: id,
      runId: id,
      waitingRunId: id,
      sleepingRunId: id,
      failedRunId: id,
      fingerprint: '$fingerprint',
      replayId: id,
      whatIfId: id,
      functionId: id,
      destinationId: id,
      appName: '$name',
      webhookId: id,
      requestId: id,
      rejectedRequestId: id,
    });
    const paths = [...STATIC_PAGES, ...visited].map((path) => path.split('?')[0]);
    expect([...new Set(paths)]).to.have.members(declaredPaths());
  });
});

function menu(page: Page, name: string) {
  return page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true });
}

/** Compressed, with headers. */
async function sizeOf(response: Response): Promise<number> {
  const { responseBodySize, responseHeadersSize } = await response.request().sizes();
  return responseBodySize + responseHeadersSize;
}
