import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { browserForSuite, open, settled } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';
import { createFixtures } from './fixtures.ts';
import { resourcePages, STATIC_PAGES } from './pages.ts';

const GLOSSARY = resolve(import.meta.dirname, '../../docs/glossary.md');
const SECTIONS = ['## In the dashboard', '## Say this, not that'];
/** One of the fixtures is a request whose transform fails. */
const FAILED_TRANSFORM = /400 .*\/v1\/transforms\/test/;
/** What a person reads or hears: text, labels, placeholders, tooltips. Samples of code and payloads are not the dashboard's own words. */
const READ = `(() => {
  const own = (element) => !element.closest('pre, code, .cm-editor, .font-mono, [role=tree]');
  const said = [...document.querySelectorAll('[aria-label], [placeholder], [title]')].filter(own).flatMap((element) =>
    ['aria-label', 'placeholder', 'title'].map((name) => element.getAttribute(name) ?? ''),
  );
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) if (own(walker.currentNode.parentElement)) said.push(walker.currentNode.data);
  return said.join('\\n');
})()`;

interface Rule {
  say: string;
  not: RegExp;
  exceptions: string[];
}

function rules(): Rule[] {
  const text = readFileSync(GLOSSARY, 'utf8');
  return SECTIONS.flatMap((heading) => {
    const [section = ''] = (text.split(`\n${heading}\n`)[1] ?? '').split('\n## ');
    const rows = [...section.matchAll(/^\| ([^|]+) \| ([^|]+) \|([^|]*)\|$/gm)].slice(1);
    expect(rows.length, heading).to.be.greaterThan(3);
    return rows.map(([, say = '', words = '', exceptions = '']): Rule => {
      const list = words.split(',').map((word) =>
        word
          .trim()
          .toLowerCase()
          .replace(/[.*+?^${}()|[\]\\]/g, '\\$&'),
      );
      return {
        say,
        not: new RegExp(`(?<![\\w-])(${list.join('|')})s?(?![\\w-])`, 'i'),
        exceptions: exceptions
          .split(',')
          .map((each) => each.trim().replaceAll('`', ''))
          .filter(Boolean),
      };
    });
  });
}

function breaches(text: string, all: readonly Rule[]): string[] {
  return text.split('\n').flatMap((line) =>
    all.flatMap(({ say, not, exceptions }) => {
      const rest = exceptions.reduce((left, exception) => left.replaceAll(exception, ''), line);
      return not.test(rest) ? [`"${line.trim()}": say "${say}"`] : [];
    }),
  );
}

describe('words of the dashboard', function () {
  this.timeout(240_000);
  const withPage = browserForSuite();
  let service: Service;
  let host: AppHost;
  let pages: string[];
  before(async () => {
    service = await startService();
    host = await startAppHost();
    pages = [...STATIC_PAGES, ...resourcePages(await createFixtures(service, host))];
  });
  after(async () => {
    await host.close();
    await service.stop();
  });

  it('every page and its first dialog use the words of the glossary', () =>
    withPage(
      async (page) => {
        const all = rules();
        expect(breaches('The holding page is empty', all)).to.have.lengthOf(1);
        const found = new Map<string, string[]>();
        const look = async (where: string) => {
          const said = breaches(await page.evaluate<string>(READ), all);
          if (said.length > 0) found.set(where, said);
        };
        for (const path of pages) {
          await open(page, service.url + path);
          await look(path);
          if (await openDialog(page)) await look(`${path}, dialog`);
        }
        expect(Object.fromEntries(found)).to.deep.equal({});
      },
      { forgive: FAILED_TRANSFORM },
    ));
});

/** @returns whether the page's main action opened one */
async function openDialog(page: Page): Promise<boolean> {
  const button = page.locator('main header').getByRole('button').last();
  if (!(await button.isVisible()) || !(await button.isEnabled())) return false;
  await button.click();
  await settled(page);
  return page.getByRole('dialog').first().isVisible();
}
