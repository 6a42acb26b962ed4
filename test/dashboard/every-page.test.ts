import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { addUser } from '../support/auth.ts';
import { violationsInSchemes } from '../support/axe.ts';
import { browserForSuite, navigateTo, open, settled, signIn } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';
import { expectAccessible, onPhone, PHONE, tooWide } from './accessible.ts';
import { createFixtures } from './fixtures.ts';
import { breaches, breachesOn, glossaryRules } from './glossary.ts';
import { resourcePages, STATIC_PAGES } from './pages.ts';

const ADMIN = 'ada@example.com';
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
  '/destinations': 'Create destination',
  '/held-events': 'Assign all',
  '/alerts?tab=channels': 'Create channel',
  '/keys': 'Create event key',
  '/environments': 'Create environment',
  '/users': 'Invite user',
};
/** Lists whose columns are chosen and whose views are saved. */
const LISTS = ['/events', '/runs'];
/** Compressed JavaScript of a page, with what it loads by itself. */
const SCRIPTS_MAX_BYTES = 160_000;
/** Bytes of all scripts since the dashboard was loaded, those from the browser's cache included. */
const SCRIPT_BYTES = `(() => {
  // Beside hundreds of requests.
  performance.setResourceTimingBufferSize(10_000);
  const scripts = performance.getEntriesByType('resource').filter(({ name }) => new URL(name).pathname.endsWith('.js'));
  return [...new Map(scripts.map(({ name, encodedBodySize }) => [name, encodedBodySize])).values()].reduce((sum, size) => sum + size, 0);
})()`;

/** What is wrong with pages, by what was looked at. */
class Faults {
  readonly #lines = new Map<string, string[]>();

  add(kind: string, where: string, faults: readonly string[]): void {
    this.#lines.set(kind, [...(this.#lines.get(kind) ?? []), ...faults.map((fault) => `${where}: ${fault}`)]);
  }

  /** @throws if nothing was looked at */
  of(kind: string): string {
    const lines = this.#lines.get(kind);
    if (!lines) throw new Error(`No page was looked at: ${kind}`);
    return lines.join('\n');
  }
}

describe('Every page of the dashboard', function () {
  // Each hook has axe look at dozens of pages.
  this.timeout(600_000);

  const withPage = browserForSuite({ onePage: true });
  const rules = glossaryRules();
  let full: Service;
  let host: AppHost;

  before(async () => {
    host = await startAppHost();
    full = await startService({ dev: false });
    await addUser(full, ADMIN, 'admin');
  });
  after(async () => {
    await full.stop();
    await host.close();
  });

  async function enter(page: Page): Promise<void> {
    if (page.url().startsWith(full.url)) return;
    await page.goto(full.url);
    await signIn(page, ADMIN);
    await settled(page);
  }

  describe('without content', () => {
    const found = new Faults();
    before(async () => {
      const empty = await startService({ workers: 0 });
      try {
        await withPage(async (page) => {
          for (const path of STATIC_PAGES) {
            await (path === '/' ? open(page, empty.url) : navigateTo(page, path));
            found.add('axe', path, await violationsInSchemes(page));
            found.add('words', path, await breachesOn(page, rules));
          }
          // Else the page still asks the service when it has stopped.
          await page.goto('about:blank');
        });
      } finally {
        await empty.stop();
      }
    });

    it('violates no rule of axe, in light and dark', () => expect(found.of('axe')).to.equal(''));

    it('uses the words of the glossary', () => expect(found.of('words')).to.equal(''));
  });

  describe('with content', () => {
    const found = new Faults();
    let pages: string[];
    before(async () => {
      pages = [...STATIC_PAGES, ...resourcePages(await createFixtures(full, host))];
      await withPage(
        async (page) => {
          await enter(page);
          for (const path of pages) await look(page, path);
        },
        { forgive: FAILED_TRANSFORM },
      );
    });

    async function look(page: Page, path: string): Promise<void> {
      await navigateTo(page, path);
      let bytes = await page.evaluate<number>(SCRIPT_BYTES);
      if (bytes > SCRIPTS_MAX_BYTES) {
        // With the scripts of other pages. Alone, it may load fewer.
        await page.goto(full.url + path);
        await settled(page);
        bytes = await page.evaluate<number>(SCRIPT_BYTES);
      }
      expect(bytes, path).to.be.greaterThan(10_000);
      found.add('weight', path, bytes > SCRIPTS_MAX_BYTES ? [`${bytes} bytes`] : []);
      found.add('axe', path, await violationsInSchemes(page));
      found.add('words', path, await breachesOn(page, rules));
      await onPhone(page, async () => found.add('phone', path, await tooWide(page)));
      if (await openDialog(page)) found.add('words', `${path}, dialog`, await breachesOn(page, rules));
      await page.keyboard.press('Escape');
      if (!DIALOGS[path]) return;
      await page.getByRole('button', { name: DIALOGS[path] }).click();
      await page.getByRole('dialog').waitFor();
      found.add('axe in dialogs', path, await violationsInSchemes(page));
      found.add('words', `${path}, dialog`, await breachesOn(page, rules));
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
    }

    it('violates no rule of axe, in light and dark', () => expect(found.of('axe')).to.equal(''));

    it('violates no rule of axe in its dialog', () => expect(found.of('axe in dialogs')).to.equal(''));

    it('uses the words of the glossary, even in its first dialog', () => {
      expect(breaches('The holding page is empty', rules)).to.have.lengthOf(1);
      expect(found.of('words')).to.equal('');
    });

    it('does not scroll sideways on a phone', () => expect(found.of('phone')).to.equal(''));

    it('loads at most 160 kB of compressed JavaScript', () => expect(found.of('weight')).to.equal(''));
  });

  it('axe finds no violations in the menus of lists in light mode, in dark mode and on a phone', () =>
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
});

/** Buttons that act at once, without a dialog. */
const ACTS_AT_ONCE = /^(Retry now|Resume)$/;

/** @returns whether the page's main action opened one */
async function openDialog(page: Page): Promise<boolean> {
  const button = page.locator('main header').getByRole('button').filter({ hasNotText: ACTS_AT_ONCE }).last();
  if (!(await button.isVisible()) || !(await button.isEnabled())) return false;
  await button.click();
  await settled(page);
  return page.getByRole('dialog').first().isVisible();
}
