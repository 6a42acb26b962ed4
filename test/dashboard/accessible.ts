/** What is open, as everybody should be able to read it. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { violations, violationsInSchemes } from '../support/axe.ts';

export const PHONE = { width: 390, height: 844 };

/** axe finds no violations in light, in dark and on a phone, where the page does not scroll sideways either. */
export async function expectAccessible(page: Page): Promise<void> {
  expect(await violationsInSchemes(page)).to.deep.equal([]);
  await onPhone(page, async () => {
    expect(await violations(page), 'phone').to.deep.equal([]);
    expect(await tooWide(page)).to.deep.equal([]);
  });
}

/** In a window as wide as a phone. */
export async function onPhone(page: Page, work: () => Promise<void>): Promise<void> {
  const wide = page.viewportSize();
  await resize(page, PHONE);
  await work();
  if (wide) await resize(page, wide);
}

/** Resolves when what follows the width of the window is drawn. */
async function resize(page: Page, size: { width: number; height: number }): Promise<void> {
  await page.setViewportSize(size);
  await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
}

/** @returns the page's width and the elements that overflow, if the page is wider than its window */
export async function tooWide(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    const sticking = [...document.querySelectorAll('body *')].filter((item) => item.getBoundingClientRect().right > clientWidth + 1);
    return [scrollWidth + ' px wide, by ' + sticking.slice(0, 3).map((item) => item.outerHTML.slice(0, 200)).join(' and ')];
  })()`);
}
