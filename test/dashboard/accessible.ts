/** What is open, as everybody should be able to read it. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { violations } from '../support/axe.ts';

const PHONE = { width: 390, height: 844 };

/** axe finds no violations in light, in dark and on a phone, where the page does not scroll sideways either. */
export async function expectAccessible(page: Page): Promise<void> {
  const wide = page.viewportSize();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await violations(page), colorScheme).to.deep.equal([]);
  }
  await page.setViewportSize(PHONE);
  expect(await violations(page), 'phone').to.deep.equal([]);
  const width = await page.evaluate<number>('document.documentElement.scrollWidth');
  expect(width).to.be.at.most(PHONE.width);
  if (wide) await page.setViewportSize(wide);
}
