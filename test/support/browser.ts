/** A real browser for the tests of the dashboard. It obeys the policy that the service sends, and what a page complains of in its
 *  console, above all a breach of that policy, fails the test that visits it. */
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import { findChromium } from '../../scripts/lib/chromium-program.ts';
import { PASSWORD } from './auth.ts';

const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
/** Where there is no Chromium yet, and these tests alone are run. */
const INSTALL_MS = 300_000;
/** A machine that has more to do, as when all tests run, takes long; a page that is right gets there. */
const PATIENCE_MS = 25_000;
/** Beneath a table it says that there are more rows to be had. */
const LOADING = 'xpath=//*[@role="status" and @aria-label="Loading" and not(preceding-sibling::*[@role="table"])]';
const BUSY = 'main [aria-busy=true]';
/** Of the page, in the message of a test that failed. */
const SHOWN_CHARACTERS = 6_000;

export interface VisitOptions extends BrowserContextOptions {
  /** Complaints that the test is about, such as a refused request. */
  forgive?: RegExp;
}

export type Visit = (work: (page: Page) => Promise<void>, options?: VisitOptions) => Promise<void>;

/** For one suite: starts a browser before its tests and ends it after them.
 *  @returns a visit by somebody who was never there: no cookies, nothing kept. Takes a page, does the work, and complains */
export function browserForSuite(): Visit {
  let browser: Browser;
  before(async function () {
    this.timeout(INSTALL_MS);
    browser = await chromium.launch({ executablePath: findChromium(), args: ARGS });
  });
  after(() => browser?.close());
  return async (work, { forgive, ...options } = {}) => {
    const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'UTC', ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    const complaints = listen(page);
    try {
      await work(page).catch(async (error: Error) => {
        error.stack += `\n\n${complaints.join('\n')}\n\n${await describe(page)}`;
        throw error;
      });
    } finally {
      await context.close();
    }
    const unforgiven = complaints.filter((complaint) => !forgive?.test(complaint));
    if (unforgiven.length > 0) throw new Error(`The page complained:\n${unforgiven.join('\n')}`);
  };
}

/** What the page says went wrong, breaches of its policy among it, as it comes. */
function listen(page: Page): string[] {
  const complaints: string[] = [];
  page.on('pageerror', ({ stack, message }) => complaints.push(stack ?? message));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(`${message.text()} (${message.location().url})`);
  });
  return complaints;
}

async function describe(page: Page): Promise<string> {
  const seen = await page
    .locator('body')
    .ariaSnapshot({ timeout: 1_000 })
    .catch(({ message }: Error) => message);
  return `The page was ${page.url()}:\n${seen.slice(0, SHOWN_CHARACTERS)}`;
}

/** Opens a page of the dashboard and waits until it shows what it has. */
export async function open(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await settled(page);
}

/** Resolves when the page has its heading and nothing in it is on its way. */
export async function settled(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  await page.locator(LOADING).or(page.locator(BUSY)).first().waitFor({ state: 'detached' });
}

/** On the page for it, to which whoever has no session is led. */
export async function signIn(page: Page, email: string): Promise<void> {
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Replaces what a code editor holds. Emptied first: Chromium itself puts inline styles, which the policy forbids, around what is
 *  typed over coloured text. */
export async function write(editor: Locator, text: string): Promise<void> {
  await editor.press('Control+a');
  await editor.press('Delete');
  await editor.page().keyboard.insertText(text);
}
