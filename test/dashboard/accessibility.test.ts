import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { AxeResults, Result } from 'axe-core';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { addUser } from '../support/auth.ts';
import { browserForSuite, open, settled, signIn } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';
import { makeThings } from './fixtures.ts';
import { PLACES, pagesOf } from './pages.ts';

const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
/** Frames are left out: what is in the one that there is, Bull Board, is not ours. */
const OPTIONS = { resultTypes: ['violations'], iframes: false, preload: false };
/** Nothing but colours differs between the schemes. */
const SCHEMES = [
  ['light', OPTIONS],
  ['dark', { ...OPTIONS, runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } }],
] as const;
const ADMIN = 'ada@example.com';
const SHOWN_CHARACTERS = 300;
/** Among the things is a request that the transform cannot take; the workbench tries. */
const FAILED_TRANSFORM = /400 .*\/v1\/transforms\/test/;
/** By the path of the page: the button that opens it. */
const DIALOGS: Record<string, string> = {
  '/': 'Keyboard shortcuts',
  '/functions': 'Jump to',
  '/events': 'Send an event',
  '/apps': 'Register a URL',
  '/webhooks': 'New webhook',
  '/held-events': 'Assign all',
  '/keys': 'Make an event key',
  '/environments': 'Make one',
  '/members': 'Invite somebody',
};
const PHONE = { width: 390, height: 844 };

describe('every page of the dashboard', function () {
  this.timeout(120_000);
  const visit = browserForSuite();
  let empty: Service;
  let full: Service;
  let host: AppHost;
  let pages: string[];

  before(async () => {
    host = await startAppHost();
    [empty, full] = await Promise.all([startService({ workers: 0 }), startService({ dev: false })]);
    await addUser(full, ADMIN, 'admin');
    const ids = await makeThings(full, host);
    pages = [...PLACES, ...pagesOf(ids)];
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

  it('has no fault that axe finds, light or dark, while there is nothing in it', () =>
    visit((page) => expectNone(page, empty, PLACES, violations)));

  it('has no fault that axe finds, light or dark, with something in it', () =>
    visit(
      async (page) => {
        await enter(page);
        await expectNone(page, full, pages, violations);
      },
      { forgive: FAILED_TRANSFORM },
    ));

  it('opens dialogs that have no fault that axe finds, light or dark', () =>
    visit(async (page) => {
      await enter(page);
      await expectNone(page, full, Object.keys(DIALOGS), async () => {
        await page.getByRole('button', { name: DIALOGS[new URL(page.url()).pathname] as string }).click();
        await page.getByRole('dialog').waitFor();
        return violations(page);
      });
    }));

  it('fits a phone: nothing makes it scroll sideways', () =>
    visit(
      async (page) => {
        await enter(page);
        await expectNone(page, full, pages, tooWide);
      },
      { viewport: PHONE, isMobile: true, hasTouch: true, forgive: FAILED_TRANSFORM },
    ));
});

/** Opens each page and gathers what is wrong with any of them. */
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

/** In both colour schemes. The script is put in from outside, so that the page's policy holds as ever. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const faults: string[] = [];
  for (const [colorScheme, options] of SCHEMES) {
    await page.emulateMedia({ colorScheme });
    await page.locator(`html[data-theme=${colorScheme}]`).waitFor();
    const found = await page.evaluate<AxeResults>(`axe.run(document, ${JSON.stringify(options)})`);
    faults.push(...found.violations.flatMap(told).map((fault) => `${colorScheme}: ${fault}`));
  }
  return faults;
}

function told({ id, help, nodes }: Result): string[] {
  return nodes.map(({ html, any }) => {
    const why = any.map(({ message }) => message).join('; ');
    return `${id}: ${help}: ${html.slice(0, SHOWN_CHARACTERS)} ${why}`;
  });
}

/** @returns how far the page is wider than its window, and what sticks out, if it is */
async function tooWide(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    const sticking = [...document.querySelectorAll('body *')].filter((one) => one.getBoundingClientRect().right > clientWidth + 1);
    return [scrollWidth + ' px wide, by ' + sticking.slice(0, 3).map((one) => one.outerHTML.slice(0, 200)).join(' and ')];
  })()`);
}
