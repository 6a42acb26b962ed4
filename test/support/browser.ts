/** A real browser for dashboard tests. It enforces the service's content security policy; any error in a page's console, such as a policy
 *  violation, fails the test. */
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import { findChromium } from '../../scripts/lib/chromium-program.ts';
import { atEnd } from './at-end.ts';
import { PASSWORD } from './auth.ts';

/** Pages that Chromium with windows loads into each of them, at twice the CPU time of a page of the dashboard. The headless shell has none. */
const FEATURES_OFF = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup'];
const ARGS = [
  `--disable-features=${FEATURES_OFF}`,
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
/** Timeout of the Chromium installation. */
const INSTALL_MS = 900_000;
/** Long, because a busy machine is slow when all tests run. */
const PATIENCE_MS = 60_000;
/** Text below a table that has more rows. */
const LOADING = 'xpath=//*[@role="status" and @aria-label="Loading" and not(preceding-sibling::*[@role="table"])]';
const BUSY = 'main [aria-busy=true]';
/** Length of the page text in the message of a failed test. */
const SHOWN_CHARACTERS = 6_000;

export interface BrowserOptions extends BrowserContextOptions {
  /** Console errors that the test expects, such as a rejected request. */
  forgive?: RegExp;
}

export type WithPage = (work: (page: Page) => Promise<void>, options?: BrowserOptions) => Promise<void>;

/** Shared by all suites in this process: it takes longer to start than most tests. They share nothing in it but its processes. */
let browser: Promise<Browser> | undefined;

function sharedBrowser(): Promise<Browser> {
  if (browser) return browser;
  const launched = chromium.launch({ executablePath: findChromium(), args: ARGS });
  browser = launched;
  const forget = () => {
    browser = undefined;
  };
  launched.then((one) => {
    one.on('disconnected', forget);
    atEnd(() => one.close());
  }, forget);
  return launched;
}

/** Starts the browser before the tests of a suite.
 *  @returns a function that opens a page in a new browser context, does the work, and fails on console errors */
export function browserForSuite(): WithPage {
  before(async function () {
    this.timeout(INSTALL_MS);
    await sharedBrowser();
  });
  return async (work, { forgive, ...options } = {}) => {
    const context = await (await sharedBrowser()).newContext({ locale: 'en-GB', timezoneId: 'UTC', ...options });
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

/** Collects console errors of the page, including policy violations. */
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

/** Opens a dashboard page and waits until it is loaded. */
export async function open(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await settled(page);
}

/** Goes to another page as a link of the dashboard does, without loading the dashboard again. */
export async function navigateTo(page: Page, path: string): Promise<void> {
  const isOpen = new URL(path, page.url()).href === page.url();
  const navigate = `new Promise((rendered) => {
    __TSR_ROUTER__.subscribe('onRendered', rendered);
    __TSR_ROUTER__.navigate({ href: ${JSON.stringify(path)} });
  })`;
  if (!isOpen) await page.evaluate(navigate);
  await settled(page);
}

/** Resolves when the page has its heading and no pending requests. */
export async function settled(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  await page.locator(LOADING).or(page.locator(BUSY)).first().waitFor({ state: 'detached' });
}

/** On the sign-in page, to which the dashboard redirects without a session. */
export async function signIn(page: Page, email: string): Promise<void> {
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Replaces the content of a code editor. Clears it first: when typing over colored text, Chromium adds inline styles, which the policy
 *  forbids. */
export async function write(editor: Locator, text: string): Promise<void> {
  // It begins as a plain field.
  await editor.focus();
  await editor.and(editor.page().locator('.cm-content')).waitFor();
  await editor.press('Control+a');
  await editor.press('Delete');
  await editor.page().keyboard.insertText(text);
}
