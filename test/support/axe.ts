/** Accessibility of the page that is open. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { AxeResults, Result } from 'axe-core';
import type { Page } from 'playwright-core';

const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
/** Without frames: the only one is Bull Board, which is not ours. */
const OPTIONS = { resultTypes: ['violations'], iframes: false, preload: false };
/** Only colors differ between the schemes. */
const OF_COLORS = { runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } };
const SCHEMES = [
  ['light', {}],
  ['dark', OF_COLORS],
] as const;
const SHOWN_CHARACTERS = 300;

/** Playwright injects axe, so that the page's CSP stays in force.
 *  @returns the rules that the page violates, with what violates them */
export async function violations(page: Page, options: object = {}): Promise<string[]> {
  if (!(await page.evaluate<boolean>(`'axe' in window`))) await page.evaluate(AXE);
  const found = await page.evaluate<AxeResults>(`axe.run(document, ${JSON.stringify({ ...OPTIONS, ...options })})`);
  return found.violations.flatMap(describeNodes);
}

/** The same in light, and of colors in dark, which stays on. */
export async function violationsInSchemes(page: Page): Promise<string[]> {
  const faults: string[] = [];
  for (const [colorScheme, options] of SCHEMES) {
    await page.emulateMedia({ colorScheme });
    await page.locator(`html[data-theme=${colorScheme}]`).waitFor();
    faults.push(...(await violations(page, options)).map((fault) => `${colorScheme}: ${fault}`));
  }
  return faults;
}

function describeNodes({ id, help, nodes }: Result): string[] {
  return nodes.map(({ html, any }) => {
    const why = any.map(({ message }) => message).join('; ');
    return `${id}: ${help}: ${html.slice(0, SHOWN_CHARACTERS)} ${why}`;
  });
}
