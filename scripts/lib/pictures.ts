/** Pictures of the dashboard's pages, as PNG files named `<page>-<light|dark>.png`. */
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { findChromium } from './chromium-program.ts';
import { codeOf, type Labels, labelsOn, writeLabels } from './picture-labels.ts';
import { Problem } from './problem.ts';
import { FULFIL, type Shop } from './shop.ts';

const SIZE = { width: 1200, height: 740 };
const ROOT = resolve(import.meta.dirname, '../..');
const LOOKS = ['light', 'dark'] as const;
/** Enough for a list with twenty rows of text. */
const MAX_BYTES = 250_000;
const ARGS = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'];
/** For what moves in and is drawn after it was loaded. */
const SETTLE_MS = 700;
const PATIENCE_MS = 20_000;

export interface PictureOptions {
  shop: Shop;
  folder: string;
  /** What the names of the wished ones begin with. */
  only: string;
  email: string;
  password: string;
}

/** @returns the files that were written
 *  @throws Problem when one is larger than a repository should hold */
export async function takePictures({ shop, folder, only, email, password }: PictureOptions): Promise<string[]> {
  const pages = Object.entries(await pagesOf(shop)).filter(([name]) => name.startsWith(only));
  const browser = await chromium.launch({ executablePath: findChromium(), args: ARGS });
  const files: string[] = [];
  const labels: Labels = new Map();
  const code = codeOf(ROOT);
  try {
    for (const look of LOOKS) {
      const page = await signedIn(browser, shop.url, look, email, password);
      for (const [name, path] of pages) {
        const file = join(folder, `${name}-${look}.png`);
        await open(page, shop.url + path);
        await maskPaths(page);
        await page.screenshot({ path: file });
        labels.set(name, await labelsOn(page, code));
        files.push(file);
      }
      await page.context().close();
    }
  } finally {
    await browser.close();
  }
  writeLabels(folder, labels);
  const large = files.filter((file) => statSync(file).size > MAX_BYTES);
  if (large.length > 0) throw new Problem(`These pictures exceed ${MAX_BYTES} bytes: ${large.join(', ')}`);
  return files;
}

/** What there is to see, by the name of its picture. */
async function pagesOf({ ask, webhookId }: Shop): Promise<Record<string, string>> {
  const [event] = await ask('GET', '/v1/events?name=order/placed&limit=1');
  const [webhookEvent] = await ask('GET', '/v1/events?name=github/push&limit=1');
  const [failed] = await ask('GET', `/v1/runs?status=Failed&function_id=${FULFIL}&limit=1`);
  const [group] = await ask('GET', `/v1/errors?function_id=${FULFIL}&limit=1`);
  const [finished] = await ask('GET', `/v1/runs?status=Completed&function_id=${FULFIL}&limit=1`);
  return {
    overview: '/',
    events: '/events',
    event: `/events/${event.internal_id}`,
    'event-source': `/events/${webhookEvent.internal_id}?tab=source`,
    runs: '/runs',
    run: `/runs/${finished.run_id}`,
    'run-failed': `/runs/${failed.run_id}`,
    errors: '/errors',
    error: `/errors/${group.fingerprint}`,
    functions: '/functions',
    function: `/functions/${FULFIL}`,
    apps: '/apps/example-shop',
    webhooks: '/webhooks',
    workbench: `/webhooks/${webhookId}`,
    requests: `/webhooks/${webhookId}?tab=requests`,
    holding: '/held-events',
    queues: '/jobs',
    keys: '/keys',
    environments: '/environments',
    users: '/users',
    'audit-log': '/audit-log',
    settings: '/settings',
  };
}

async function signedIn(
  browser: Browser,
  url: string,
  colorScheme: (typeof LOOKS)[number],
  email: string,
  password: string,
): Promise<Page> {
  const context = await browser.newContext({ viewport: SIZE, colorScheme, locale: 'en-GB', timezoneId: 'UTC' });
  const page = await context.newPage();
  await page.goto(`${url}/sign-in`);
  await page.fill('[name=email]', email);
  await page.fill('[name=password]', password);
  await page.press('[name=password]', 'Enter');
  await page.waitForURL(`${url}/`);
  return page;
}

async function open(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  const deadline = Date.now() + PATIENCE_MS;
  while (await isLoadingInSight(page)) {
    if (Date.now() > deadline) throw new Problem(`${url} was still loading after ${PATIENCE_MS / 1_000} s`);
    await page.waitForTimeout(100);
  }
  await page.waitForTimeout(SETTLE_MS);
}

/** The end of a long list may be on its way when its beginning is there. */
async function isLoadingInSight(page: Page): Promise<boolean> {
  const loading = await page.getByRole('status', { name: 'Loading' }).all();
  const boxes = await Promise.all(loading.map((one) => one.boundingBox({ timeout: 1_000 }).catch(() => null)));
  return boxes.some((box) => box !== null && box.y < SIZE.height);
}

/** Stacks name files of the machine that the shop runs on, which is nobody's business. */
async function maskPaths(page: Page): Promise<void> {
  await page.evaluate(`(() => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const { currentNode } = texts;
      if (currentNode.nodeValue.includes(${JSON.stringify(ROOT)})) currentNode.nodeValue = currentNode.nodeValue.replaceAll(${JSON.stringify(ROOT)}, '/srv/shop');
    }
  })()`);
}
