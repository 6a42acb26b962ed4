/** The dashboard's list of runs in a real browser, with 10,000 rows loaded and 100 events/s coming in: what goes over the wire, and the longest time that the
 *  page does not respond. At the top, where new rows appear, and further down, where they are counted. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { chromium, type Page } from 'playwright-core';
import { findChromium } from '../../scripts/lib/chromium-program.ts';
import { Problem } from '../../scripts/lib/problem.ts';
import type { Benchmark, Measurement } from '../bench.ts';
import { type ByteCounter, countBytes } from '../byte-counter.ts';
import { now } from '../count-calls.ts';
import type { Row } from '../row.ts';
import type { Service } from '../service.ts';
import type { TestBed } from '../test-bed.ts';

const RUNS = 10_000;
const BATCH = 500;
const EVENTS_PER_SECOND = 100;
const LOAD_MS = 300_000;
const WORK = `dashboard: ${RUNS.toLocaleString('en-US')} runs listed, ${EVENTS_PER_SECOND} events/s`;
const STEADY_LOOKS = 10;
const LAPTOP = { width: 1366, height: 768 };
const BUILT = join(import.meta.dirname, '../../dashboard/dist/index.html');
/** Customers of the events that are sent while the page is watched. */
const LIVE = 'live';
const group = 'dashboard';

export const dashboard: Measurement = {
  group,
  names: [WORK],
  measure: (bench) => bench.withTestBed({}, (testBed) => rowsOn(testBed, bench)),
};

/** Frames that took too long, by the browser. In strings: the tools compile this file without the types of browsers. */
const OBSERVE = `window.longest = 0;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest, duration);
  }).observe({ type: 'long-animation-frame' });`;

async function rowsOn(testBed: TestBed, bench: Benchmark): Promise<{ rows: Row[]; costs: []; series: [] }> {
  if (!existsSync(BUILT)) throw new Problem('The dashboard is not built. Run: npm run build');
  const { service } = testBed;
  await service.register('bench', [{ id: 'run', event: 'bench/run' }]);
  await testBed.startWorker();
  for (let sent = 0; sent < RUNS; sent += BATCH) {
    await service.send(Array.from({ length: BATCH }, (_, n) => eventOf(sent + n)) as never);
  }
  await service.untilDrained();
  const { origin } = new URL(await testBed.startDevWeb());
  const counter = await countBytes(origin);
  const browser = await chromium.launch({ executablePath: findChromium(), args: ['--no-sandbox', '--disable-gpu'] });
  try {
    const page = await browser.newPage({ viewport: LAPTOP });
    await page.goto(`${counter.origin}/runs`);
    await loadRows(page);
    await page.evaluate(OBSERVE);
    const seconds = 2 * bench.options.seconds;
    await scrollToTop(page);
    const top = await measure(page, service, counter, seconds);
    await expectNewest(page);
    await page.evaluate('scrollTo(0, document.body.scrollHeight / 2)');
    const middle = await measure(page, service, counter, seconds);
    await page.getByText(/new runs/).waitFor();
    return { rows: [...rowsAt('at the top', top), ...rowsAt('scrolled down', middle)], costs: [], series: [] };
  } finally {
    await browser.close();
    counter.close();
  }
}

/** Rows that were estimated get their height as they are shown, which moves the page a little. */
async function scrollToTop(page: Page): Promise<void> {
  for (let steady = 0; steady < STEADY_LOOKS; ) {
    steady = (await page.evaluate('scrollY')) === 0 ? steady + 1 : 0;
    if (steady === 0) await page.evaluate('scrollTo(0, 0)');
    await setTimeout(100);
  }
}

/** The page has shown what was sent: otherwise there was nothing to measure. */
async function expectNewest(page: Page): Promise<void> {
  const first = await page.getByRole('table', { name: 'Runs' }).getByRole('row').nth(1).innerText();
  if (!first.includes(LIVE)) throw new Error(`the list shows no run of the measurement at the top: ${first}`);
}

function eventOf(n: number, customer = 'c') {
  return { name: 'bench/run', data: { sentAt: now(), customer: `${customer}_${n}`, total: n, currency: 'EUR' } };
}

/** Scrolls down until the table has all rows. */
async function loadRows(page: Page): Promise<void> {
  const table = page.getByRole('table', { name: 'Runs' });
  await table.waitFor();
  const until = performance.now() + LOAD_MS;
  while (Number(await table.getAttribute('aria-rowcount')) < RUNS) {
    if (performance.now() > until) throw new Error(`the list did not load ${RUNS} runs`);
    await page.keyboard.press('End');
    await setTimeout(20);
  }
}

/** Sends events for so long, and watches the page. */
async function measure(
  page: Page,
  service: Service,
  counter: ByteCounter,
  seconds: number,
): Promise<{ kbPerSecond: number; longestMs: number }> {
  // What scrolling caused is not counted.
  await setTimeout(1_000);
  await page.evaluate('window.longest = 0');
  const before = counter.bytes;
  const startedAt = now();
  const sends: Promise<void>[] = [];
  for (let n = 0; n < seconds * EVENTS_PER_SECOND; n++) {
    const send = service.send(eventOf(n, LIVE));
    send.catch(() => {});
    sends.push(send);
    await setTimeout(Math.max(0, startedAt + ((n + 1) * 1_000) / EVENTS_PER_SECOND - now()));
  }
  await Promise.all(sends);
  const kbPerSecond = (counter.bytes - before) / (now() - startedAt);
  const longestMs = await page.evaluate<number>('window.longest');
  return { kbPerSecond, longestMs };
}

function rowsAt(where: string, { kbPerSecond, longestMs }: { kbPerSecond: number; longestMs: number }): Row[] {
  const row = { group, references: [] } as const;
  return [
    {
      ...row,
      references: [],
      work: `${WORK}, ${where}: received`,
      value: kbPerSecond,
      unit: 'kB/s',
      targets: [{ most: 50 }],
    },
    {
      ...row,
      references: [],
      work: `${WORK}, ${where}: longest frame`,
      value: longestMs,
      unit: 'ms',
      targets: [{ most: 100 }],
    },
  ];
}
