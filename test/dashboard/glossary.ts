/** Words that the dashboard says, by the rules of the glossary. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect } from 'chai';
import type { Page } from 'playwright-core';

const GLOSSARY = resolve(import.meta.dirname, '../../docs/glossary.md');
const SECTIONS = ['## In the dashboard', '## Say this, not that'];
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

export interface Rule {
  say: string;
  not: RegExp;
  exceptions: string[];
}

export function glossaryRules(): Rule[] {
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

/** @returns the lines that say what the glossary says otherwise */
export function breaches(text: string, all: readonly Rule[]): string[] {
  return text.split('\n').flatMap((line) =>
    all.flatMap(({ say, not, exceptions }) => {
      const rest = exceptions.reduce((left, exception) => left.replaceAll(exception, ''), line);
      return not.test(rest) ? [`"${line.trim()}": say "${say}"`] : [];
    }),
  );
}

export async function breachesOn(page: Page, rules: readonly Rule[]): Promise<string[]> {
  return breaches(await page.evaluate<string>(READ), rules);
}
