import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { AxeResults, Result } from 'axe-core';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { addUser } from '../support/auth.ts';
import { browserForSuite, open, settled, signIn } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';
import { expectAccessible } from './accessible.ts';
import { createFixtures } from './fixtures.ts';
import { resourcePages, STATIC_PAGES } from './pages.ts';

const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
/** Without frames: the only one is Bull Board, which is not ours. */
const OPTIONS = { resultTypes: ['violations'], iframes: false, preload: false };
/** Only colors differ between the schemes. */
const SCHEMES = [
  ['light', OPTIONS],
  ['dark', { ...OPTIONS, runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } }],
] as const;
const ADMIN = 'ada@example.com';
const SHOWN_CHARACTERS = 300;
/** One fixture is a request that fails in the workbench's transform. */
const FAILED_TRANSFORM = /400 .*\/v1\/transforms\/test/;
/** The button that opens a dialog, by path of the page. */
const DIALOGS: Record<string, string> = {
  '/': 'Keyboard shortcuts',
  '/functions': 'Jump to',
  '/events': 'Send event',
  '/replays': 'New replay',
  '/apps': 'Register app',
  '/webhooks': 'Create webhook',
  '/held-events': 'Assign all',
  '/keys': 'Create event key',
  '/environments': 'Create environment',
  '/users': 'Invite user',
};
/** Lists whose columns are chosen and whose views are saved. */
const LISTS = ['/events', '/runs'];
const PHONE = { width: 390, height: 844 };

describe('dashboard accessibility', function () {
  // Each test has axe look at dozens of pages.
  this.timeout(600_000);

  const withPage = browserForSuite();
  let empty: Service;
  let full: Service;
  let host: AppHost;
  let pages: string[];

  before(async () => {
    host = await startAppHost();
    [empty, full] = await Promise.all([startService({ workers: 0 }), startService({ dev: false })]);
    await addUser(full, ADMIN, 'admin');
    const ids = await createFixtures(full, host);
    pages = [...STATIC_PAGES, ...resourcePages(ids)];
  });
  after(async () => {
    await Promise.all([empty.stop(), full.stop()]);
    await host.close();
  });

  async function enter(page: Page): Promise<void> {
    await page.goto(full.url);
    await signIn(page, ADMIN);
    await settled(page);
  }

  it('axe finds no violations on empty pages, light or dark', () =>
    withPage((page) => expectNone(page, empty, STATIC_PAGES, violations)));

  it('axe finds no violations on pages with content, light or dark', () =>
    withPage(
      async (page) => {
        await enter(page);
        await expectNone(page, full, pages, violations);
      },
      { forgive: FAILED_TRANSFORM },
    ));

  it('axe finds no violations in dialogs, light or dark', () =>
    withPage(async (page) => {
      await enter(page);
      await expectNone(page, full, Object.keys(DIALOGS), async () => {
        await page.getByRole('button', { name: DIALOGS[new URL(page.url()).pathname] as string }).click();
        await page.getByRole('dialog').waitFor();
        return violations(page);
      });
    }));

  it('axe finds no violations in the menus of lists, light, dark or on a phone', () =>
    withPage(async (page) => {
      await enter(page);
      for (const path of LISTS) {
        await open(page, full.url + path);
        await page.getByRole('button', { name: 'Columns', exact: true }).click();
        await page.getByRole('group', { name: 'Columns' }).waitFor();
        await expectAccessible(page);
        await open(page, full.url + path);
        await page.getByRole('button', { name: 'Views', exact: true }).click();
        await page.getByLabel('Save this view as').fill(path);
        await page.keyboard.press('Enter');
        await page.getByRole('link', { name: path, exact: true }).waitFor();
        await expectAccessible(page);
      }
    }));

  it('the menus of lists are in view on a phone', () =>
    withPage(
      async (page) => {
        await enter(page);
        for (const path of LISTS)
          for (const name of ['Columns', 'Views']) {
            await open(page, full.url + path);
            await page.getByRole('button', { name, exact: true }).click();
            const panel = page.getByRole('region', { name, exact: true });
            const { left, right } = await panel.evaluate((element) => element.getBoundingClientRect());
            expect([left >= 0, right <= PHONE.width], `${name} of ${path}: ${left} to ${right}`).to.deep.equal([
              true,
              true,
            ]);
          }
      },
      { viewport: PHONE, isMobile: true, hasTouch: true },
    ));

  it('no page scrolls sideways on a phone', () =>
    withPage(
      async (page) => {
        await enter(page);
        await expectNone(page, full, pages, tooWide);
      },
      { viewport: PHONE, isMobile: true, hasTouch: true, forgive: FAILED_TRANSFORM },
    ));
});

/** Opens each page and expects no faults on any. */
async function expectNone(
  page: Page,
  { url }: Service,
  paths: string[],
  faultsOf: (page: Page) => Promise<string[]>,
): Promise<void> {
  const faults: string[] = [];
  for (const path of paths) {
    await open(page, url + path);
    faults.push(...(await faultsOf(page)).map((fault) => `${path}: ${fault}`));
  }
  expect(faults.join('\n')).to.equal('');
}

/** In both color schemes. Playwright injects the script, so that the page's CSP stays in force. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const faults: string[] = [];
  for (const [colorScheme, options] of SCHEMES) {
    await page.emulateMedia({ colorScheme });
    await page.locator(`html[data-theme=${colorScheme}]`).waitFor();
    const found = await page.evaluate<AxeResults>(`axe.run(document, ${JSON.stringify(options)})`);
    faults.push(...found.violations.flatMap(describeNodes).map((fault) => `${colorScheme}: ${fault}`));
  }
  return faults;
}

function describeNodes({ id, help, nodes }: Result): string[] {
  return nodes.map(({ html, any }) => {
    const why = any.map(({ message }) => message).join('; ');
    return `${id}: ${help}: ${html.slice(0, SHOWN_CHARACTERS)} ${why}`;
  });
}

/** @returns the page's width and the elements that overflow, if the page is wider than its window */
async function tooWide(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    const sticking = [...document.querySelectorAll('body *')].filter((one) => one.getBoundingClientRect().right > clientWidth + 1);
    return [scrollWidth + ' px wide, by ' + sticking.slice(0, 3).map((one) => one.outerHTML.slice(0, 200)).join(' and ')];
  })()`);
}
