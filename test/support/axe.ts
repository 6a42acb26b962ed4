/** Accessibility of the page that is open. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
const OPTIONS = { resultTypes: ['violations'], iframes: false, preload: false };

/** @returns the rules that the page violates, with what violates them */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const found = await page.evaluate<AxeResults>(`axe.run(document, ${JSON.stringify(OPTIONS)})`);
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}
