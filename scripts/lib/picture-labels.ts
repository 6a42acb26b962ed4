/** The labels on the pictures of the dashboard, by which a test notices pictures of what is no longer there (docs/pictures/labels.txt). */
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

const FILE = 'labels.txt';
const LABELLED = 'h1, h2, th, dt, button, label, nav a, [role=columnheader]';
const SEPARATOR = ': ';

/** Names of pictures, and the labels on each. */
export type Labels = Map<string, string[]>;

/** @returns the labels in sight that the code of the dashboard has, without data and numbers */
export async function labelsOn(page: Page, code: string): Promise<string[]> {
  const texts = await page.evaluate<string[]>(`[...document.querySelectorAll(${JSON.stringify(LABELLED)})]
    .filter((one) => one.checkVisibility() && one.getBoundingClientRect().top < innerHeight)
    .map((one) => one.innerText.split('\\n')[0].trim())`);
  const labels = texts.filter((text) => /^[A-Z][A-Za-z ,0-9]{3,40}$/.test(text) && isInCode(text, code));
  return [...new Set(labels)].sort();
}

/** As a whole text, not as a part of an identifier. */
export function isInCode(label: string, code: string): boolean {
  return new RegExp(`(?<![\\w-])${label}(?![\\w-])`).test(code);
}

/** All code of the dashboard. */
export function codeOf(root: string): string {
  const files = globSync('dashboard/src/**/*.{ts,tsx}', { cwd: root });
  return files.map((file) => readFileSync(join(root, file), 'utf8')).join('\n');
}

export function readLabels(folder: string): Labels {
  const path = join(folder, FILE);
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
  const labels: Labels = new Map();
  for (const line of lines) {
    const [picture = '', label = ''] = line.split(SEPARATOR);
    labels.set(picture, [...(labels.get(picture) ?? []), label]);
  }
  return labels;
}

/** Replaces the labels of these pictures. */
export function writeLabels(folder: string, taken: Labels): void {
  const all = [...new Map([...readLabels(folder), ...taken])].sort(([a], [b]) => (a < b ? -1 : 1));
  const lines = all.flatMap(([picture, labels]) => labels.map((label) => `${picture}${SEPARATOR}${label}\n`));
  writeFileSync(join(folder, FILE), lines.join(''));
}
