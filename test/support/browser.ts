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

/** A path without a page. */
const NOWHERE = '/nowhere';
/** Removes the responses that the dashboard keeps for its next page; what all pages show is asked for again. Its cache is in the component that provides it. */
const FORGET_RESPONSES = `(() => {
  const root = document.getElementById('root');
  let fiber = root[Object.keys(root).find((key) => key.startsWith('__reactContainer'))].stateNode.current;
  while (!fiber.memoizedProps?.client) fiber = fiber.child;
  const { client } = fiber.memoizedProps;
  client.removeQueries({ type: 'inactive' });
  return client.invalidateQueries().then(() => undefined);
})()`;

/** Removes the messages of the last action, which would stay for seconds. What removes one is a property of the component that shows it. */
const REMOVE_TOASTS = `(async () => {
  for (const toast of document.querySelectorAll('[data-sonner-toast]')) {
    let fiber = toast[Object.keys(toast).find((key) => key.startsWith('__reactFiber'))];
    while (!fiber.memoizedProps?.removeToast) fiber = fiber.return;
    fiber.memoizedProps.removeToast(fiber.memoizedProps.toast);
  }
  await new Promise(requestAnimationFrame);
})()`;

export interface BrowserOptions extends BrowserContextOptions {
  /** Console errors that the test expects, such as a rejected request. */
  forgive?: RegExp;
}

export type WithPage = (work: (page: Page) => Promise<void>, options?: BrowserOptions) => Promise<void>;

interface KeptPage {
  page: Page;
  /** Options of its context, as JSON. */
  options: string;
  origin: string;
}

/** Pages that tests share, in which `open` navigates as a link does, with the size of their window. */
const sharedPages = new WeakMap<Page, ReturnType<Page['viewportSize']>>();

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
 *  @param onePage: the tests share a page as far as they leave it clean, because another one costs more CPU time than what they look at. `open` then goes from
 *  page to page without loading the dashboard again, and without its responses
 *  @returns a function that opens a page in a new browser context, does the work, and fails on console errors */
export function browserForSuite({ onePage = false } = {}): WithPage {
  let kept: KeptPage | undefined;
  const discard = async () => {
    const page = kept?.page;
    kept = undefined;
    await page?.context().close();
  };
  before(async function () {
    this.timeout(INSTALL_MS);
    await sharedBrowser();
  });
  // Before the suite stops its service, which waits for its connections.
  after(discard);
  return async (work, { forgive, ...given } = {}) => {
    const options = JSON.stringify(given);
    if (kept?.options !== options) await discard();
    const page = kept?.page ?? (await newPage(given));
    if (onePage && !kept) sharedPages.set(page, page.viewportSize());
    const before = kept;
    kept = undefined;
    const complaints = listen(page);
    let isClean = false;
    try {
      await work(page).catch(async (error: Error) => {
        error.stack += `\n\n${complaints.join('\n')}\n\n${await describe(page)}`;
        throw error;
      });
      isClean = onePage && (await cleanUp(page, before?.origin));
    } finally {
      if (isClean) kept = { page, options, origin: originOf(page) };
      else await page.context().close();
    }
    const unforgiven = complaints.filter((complaint) => !forgive?.test(complaint));
    if (unforgiven.length > 0) throw new Error(`The page complained:\n${unforgiven.join('\n')}`);
  };
}

async function newPage(options: BrowserContextOptions): Promise<Page> {
  // Without motion nothing is looked at while it fades in.
  const defaults: BrowserContextOptions = { locale: 'en-GB', timezoneId: 'UTC', reducedMotion: 'reduce' };
  const context = await (await sharedBrowser()).newContext({ ...defaults, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  return page;
}

/** Leaves the dashboard open on a page that asks for nothing.
 *  @returns whether the next test sees nothing of this one */
async function cleanUp(page: Page, origin: string | undefined): Promise<boolean> {
  if (origin !== undefined && originOf(page) !== origin) return false;
  if (!(await page.evaluate<boolean>(`'__TSR_ROUTER__' in window`))) return false;
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await navigateTo(page, NOWHERE);
  await page.emulateMedia({ colorScheme: null });
  const size = sharedPages.get(page);
  if (size) await page.setViewportSize(size);
  for (const event of ['request', 'response', 'console', 'pageerror'] as const) page.removeAllListeners(event);
  await page.evaluate(REMOVE_TOASTS);
  return page.evaluate<boolean>(`(() => {
    localStorage.clear();
    sessionStorage.clear();
    return document.querySelector('[data-sonner-toast], dialog[open], [role=dialog]') === null;
  })()`);
}

function originOf(page: Page): string {
  return new URL(page.url()).origin;
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
  const { origin, pathname, search } = new URL(url);
  if (sharedPages.has(page) && originOf(page) === origin) {
    await navigateTo(page, NOWHERE);
    await page.evaluate(FORGET_RESPONSES);
    await navigateTo(page, pathname + search);
  } else {
    await page.goto(url);
    await settled(page);
  }
}

/** Goes to another page as a link of the dashboard does, without loading the dashboard again. */
export async function navigateTo(page: Page, path: string): Promise<void> {
  const isOpen = new URL(path, page.url()).href === page.url();
  const navigate = `new Promise((rendered) => {
    __TSR_ROUTER__.subscribe('onRendered', rendered);
    __TSR_ROUTER__.navigate({ href: ${JSON.stringify(path)}, ignoreBlocker: true });
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
