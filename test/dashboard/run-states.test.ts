import { createHash } from 'node:crypto';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { type AppHost, type FunctionSpec, type Handler, startAppHost } from '../support/app-host.ts';
import { violations } from '../support/axe.ts';
import { browserForSuite, open } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';

const IN_FLIGHT = new Promise<never>(() => {});
const PHONE = { width: 390, height: 844 };
const KEY = 'event.data.customer';
const READS_FAIL = { forgive: /\/v1\/runs\?/ };

const op = (kind: string, displayName: string, opts: object = {}) => ({
  id: createHash('sha1').update(displayName).digest('hex'),
  op: kind,
  displayName,
  opts,
});
const asks =
  (...body: object[]): Handler =>
  () => ({ status: 206, body });
const approval = op('WaitForEvent', 'approval', {
  event: 'refund/approved',
  if: 'async.data.id == event.data.id',
  timeout: '2d',
});

describe('States of runs in the dashboard', () => {
  const withPage = browserForSuite({ onePage: true });
  let service: Service;
  let host: AppHost;
  const runs: Record<string, string> = {};
  before(async () => {
    // The tests do not wait for retries.
    service = await startService({ env: { RETRY_SCALE: '100' } });
    host = await startAppHost();
    host.on('busy', () => IN_FLIGHT);
    host.on('naps', asks(op('Sleep', 'two weeks', { duration: '14d' })));
    host.on('waits', ({ body }) =>
      body.steps[approval.id] === undefined ? { status: 206, body: [approval] } : { body: 'paid' },
    );
    host.on('fails', () => ({ status: 500, body: { name: 'Error', message: 'card refused' } }));
    host.on(
      'calls',
      asks(op('InvokeFunction', 'resize', { function_id: 'shop-busy', payload: { data: { customer: 'x' } } })),
    );
    const functions: Partial<FunctionSpec>[] = [
      { id: 'busy', concurrency: [{ limit: 1, key: KEY }] },
      { id: 'naps' },
      { id: 'waits' },
    ];
    const more = [{ id: 'fails', retries: 3 }, { id: 'calls' }];
    const specs = [...functions, ...more].map(
      (spec) => ({ ...spec, triggers: [{ event: `shop/${spec.id}` }] }) as FunctionSpec,
    );
    await host.register(service, specs, { appName: 'shop' });
    runs.first = await start('busy', { customer: 'c_1' }, 'running');
    runs.second = await start('busy', { customer: 'c_1' }, 'held');
    runs.third = await start('busy', { customer: 'c_1' }, 'held');
    runs.naps = await start('naps', {}, 'sleeping');
    runs.waits = await start('waits', { id: 1 }, 'waiting_for_event');
    runs.fails = await start('fails', {}, 'retrying');
    runs.calls = await start('calls', {}, 'invoking');
  });
  after(async () => {
    await host.close();
    await service.stop();
  });

  async function start(id: string, data: object, state: string): Promise<string> {
    const { body } = await service.post(service.eventPath, { name: `shop/${id}`, data });
    const path = `/v1/events/${body.ids[0]}/runs`;
    const found = await service.waitFor(path, (response) => response.body.data?.[0]?.state.kind === state);
    return found.body.data[0].run_id;
  }
  const rowOf = (page: Page, run: string) =>
    page.getByRole('row').filter({ has: page.locator(`a[href^="/runs/${runs[run]}"]`) });
  const tab = (page: Page, name: string) =>
    page.getByRole('navigation', { name: 'Status' }).getByRole('link', { name, exact: true });
  const shownRuns = (page: Page) =>
    page
      .locator('[role=row] a[href^="/runs/"]')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href')?.slice(6, 32)));

  it('the list shows the state of each run', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/runs`);
      const texts: [run: string, text: RegExp][] = [
        ['first', /^Running$/],
        ['third', /^Queued · 2nd in line, concurrency 1 of key c_1$/],
        ['naps', /^Sleeping · wakes in 14 d$/],
        ['waits', /^Waiting · for refund\/approved, times out in 2 d$/],
        ['fails', /^Retrying in \d+ (min|h), attempt 2 of 4$/],
        ['calls', /^Invoking · shop-busy$/],
      ];
      for (const [run, text] of texts) await rowOf(page, run).getByText(text).waitFor();
      expect(await violations(page)).to.deep.equal([]);
      await page.setViewportSize(PHONE);
      await rowOf(page, 'naps')
        .getByText(/Sleeping/)
        .waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).to.equal(0);
    }));

  it('the run page says what the run waits for, until when, and links to the run that it invokes', () =>
    withPage(async (page) => {
      const banner = page.getByRole('main');
      await open(page, `${service.url}/runs/${runs.naps}`);
      await banner.getByText(/Sleeping until .+ \(in 14 d\)/).waitFor();
      await open(page, `${service.url}/runs/${runs.waits}`);
      await banner
        .getByText(/Waiting for event refund\/approved if async\.data\.id == event\.data\.id until .+ \(in 2 d\)/)
        .waitFor();
      await open(page, `${service.url}/runs/${runs.fails}`);
      await banner.getByText(/Attempt 2 of 4 starts in \d+ (min|h)/).waitFor();
      await open(page, `${service.url}/runs/${runs.calls}`);
      await banner.getByText(/Invoking shop-busy/).waitFor();
      expect(await violations(page)).to.deep.equal([]);
      await page.getByRole('link', { name: 'its run' }).click();
      await page.getByRole('heading', { name: 'busy' }).waitFor();
    }));

  it('the filter combines statuses and states, and Back returns to the previous filter', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/runs`);
      await tab(page, 'Sleeping').click();
      await page.waitForURL(/status=sleeping/);
      await rowOf(page, 'waits').waitFor({ state: 'detached' });
      await rowOf(page, 'naps').waitFor();
      expect(await shownRuns(page)).to.deep.equal([runs.naps]);
      await tab(page, 'Waiting').click();
      await rowOf(page, 'waits').waitFor();
      expect(await shownRuns(page)).to.deep.equal([runs.waits]);
      await page.goBack();
      await page.waitForURL(/status=sleeping/);
      await rowOf(page, 'naps').waitFor();
      await tab(page, 'Sleeping').and(page.locator('[aria-current=page]')).waitFor();
      await page.goBack();
      await tab(page, 'All').and(page.locator('[aria-current=page]')).waitFor();
      await rowOf(page, 'first').waitFor();
      await tab(page, 'Queued').click();
      await rowOf(page, 'naps').waitFor({ state: 'detached' });
      await rowOf(page, 'third').waitFor();
      expect(await shownRuns(page)).to.deep.equal([runs.third, runs.second]);
    }));

  it("each tab of a page is an entry of the browser's history", () =>
    withPage(async (page) => {
      await open(page, `${service.url}/keys`);
      const types = page.getByRole('navigation', { name: 'Key types' });
      const [first, second] = await types.getByRole('link').all();
      await second?.click();
      await second?.and(page.locator('[aria-current=page]')).waitFor();
      await page.goBack();
      await first?.and(page.locator('[aria-current=page]')).waitFor();
    }));

  it('the event page and the run page count attempts the same way', () =>
    withPage(async (page) => {
      const { body } = await service.get(`/v1/runs/${runs.fails}`);
      await open(page, `${service.url}/events/${body.data.event_id}?tab=runs`);
      await page.getByRole('cell', { name: '1 of 4', exact: true }).waitFor();
      await page.getByText(/^Retrying in/).waitFor();
      await open(page, `${service.url}/runs/${runs.fails}`);
      await page.getByText('1 of 4', { exact: true }).waitFor();
    }));

  it('a delay before a retry is drawn as one, says until when, and is no wait for a turn', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/runs/${runs.fails}`);
      const timeline = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Timeline' }) });
      await timeline.getByRole('list', { name: 'Legend' }).getByText('delay before a retry').waitFor();
      await timeline
        .getByRole('button', { name: /^Next attempt retries in \d+ (min|h)$/ })
        .last()
        .waitFor();
      await timeline.locator('[title^="delay before a retry: "]').waitFor();
      expect(await timeline.getByText('waited for its turn').count()).to.equal(0);
    }));

  it('what is copied has absolute times', () =>
    withPage(async (page) => {
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await open(page, `${service.url}/runs/${runs.fails}`);
      const { queued_at } = (await service.get(`/v1/runs/${runs.fails}`)).body.data;
      await page.getByText('Queued', { exact: true }).first().waitFor();
      await page.evaluate('getSelection().selectAllChildren(document.querySelector("dl"))');
      await page.keyboard.press('ControlOrMeta+c');
      const copied = await page.evaluate<string>('navigator.clipboard.readText()');
      expect(copied).to.include('Status\n').and.to.include(queued_at);
      expect(copied).not.to.include(' ago');
      await page
        .locator('dl time')
        .first()
        .getByText(/ ago$|^now$/)
        .waitFor();
    }));

  it('badge and banner change with the run, without a reload', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/runs`);
      await rowOf(page, 'waits')
        .getByText(/^Waiting/)
        .waitFor();
      await service.post(service.eventPath, { name: 'refund/approved', data: { id: 1 } });
      await rowOf(page, 'waits').getByText('Completed').waitFor();
      await open(page, `${service.url}/runs/${runs.naps}`);
      await page.getByText(/Sleeping until/).waitFor();
      await service.request('DELETE', `/v1/runs/${runs.naps}`, undefined, service.apiHeaders);
      await page.getByRole('definition').getByText('dev mode').waitFor();
      await page.getByText(/Sleeping until/).waitFor({ state: 'detached' });
      const steps = page.getByRole('list', { name: 'Steps and attempts' }).getByRole('listitem');
      await steps.filter({ hasText: 'two weeks' }).filter({ hasText: 'cancelled' }).waitFor();
    }));

  it('rows get their states from live updates, without reading the list again', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/runs`);
      await rowOf(page, 'fails').waitFor();
      await page.route(/\/v1\/runs\?/, (route) => route.abort());
      runs.later = await start('naps', {}, 'sleeping');
      runs.again = await start('fails', {}, 'retrying');
      runs.behind = await start('busy', { customer: 'c_1' }, 'held');
      await rowOf(page, 'later')
        .getByText(/^Sleeping · wakes in 14 d$/)
        .waitFor();
      await rowOf(page, 'again')
        .getByText(/^Retrying in \d+ (min|h), attempt 2 of 4$/)
        .waitFor();
      await rowOf(page, 'behind')
        .getByText(/^Queued · 3rd in line, concurrency 1 of key c_1$/)
        .waitFor();
    }, READS_FAIL));

  it('the list of a state gains and loses runs by live updates', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/runs?status=sleeping`);
      await tab(page, 'Sleeping').and(page.locator('[aria-current=page]')).waitFor();
      await rowOf(page, 'later').waitFor();
      runs.latest = await start('naps', {}, 'sleeping');
      await rowOf(page, 'latest').waitFor();
      await service.request('DELETE', `/v1/runs/${runs.latest}`, undefined, service.apiHeaders);
      await rowOf(page, 'latest').waitFor({ state: 'detached' });
    }));
});
