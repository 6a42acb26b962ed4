import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { violations } from '../support/axe.ts';
import { browserForSuite, open } from '../support/browser.ts';
import { startCollector } from '../support/collector.ts';
import { type Service, startService } from '../support/service.ts';
import { expectAccessible } from './accessible.ts';
import { signalOf, start, startTimelineApp, type TimelineApp } from './timeline-app.ts';

interface Entry {
  name: string | null;
  status: string;
  run_id: string | null;
  event_id: string | null;
  event_ids: string[];
}

const STEPS = 990;

describe('The timeline of a run in the dashboard', () => {
  const withPage = browserForSuite({ onePage: true });
  let service: Service;
  let app: TimelineApp;
  let host: AppHost;
  before(async () => {
    service = await startService({ env: { RETRY_SCALE: '0.005' } });
    app = await startTimelineApp(service);
    host = await startAppHost();
  });
  after(async () => {
    await app.close();
    await host.close();
    await service.stop();
  });

  const historyOf = async (runId: string) => (await service.get(`/v1/runs/${runId}`)).body.data.history as Entry[];
  const isWaiting = (runId: string, name: string) =>
    service.waitFor(`/v1/runs/${runId}`, ({ body }) =>
      (body.data.history as Entry[]).some((entry) => entry.name === name && entry.status === 'Waiting'),
    );
  const hasEnded = (runId: string) => service.waitFor(`/v1/runs/${runId}`, ({ body }) => body.data.ended_at);
  const row = (page: Page, name: string | RegExp) =>
    page.getByRole('list', { name: 'Steps and attempts' }).getByRole('listitem').filter({ hasText: name });
  const toggle = (page: Page, name: string | RegExp) => row(page, name).getByRole('button').first();

  describe('with every kind of step', () => {
    let runId: string;
    before(async () => {
      runId = await app.start('checkout', { order: 'A1' });
      await isWaiting(runId, 'approval');
    });

    it('says what the run is doing, and changes in place when that is over', () =>
      withPage(async (page) => {
        const other = await app.start('checkout', { order: 'A2' });
        await isWaiting(other, 'approval');
        await open(page, `${service.url}/runs/${other}`);
        await page.getByText('6 of 7 steps completed').waitFor();
        await page.getByRole('button', { name: 'approval waiting for event shop/approved' }).first().click();
        const approval = toggle(page, 'approval');
        expect(await approval.getAttribute('aria-expanded')).to.equal('true');
        await row(page, 'approval').getByText('async.data.order == event.data.order').waitFor();
        await page.evaluate("document.querySelector('li [aria-expanded=true]').dataset.same = 'yes'");
        const { body } = await service.post('/e/key', { name: 'shop/approved', data: { order: 'A2' } });
        await row(page, 'approval received event shop/approved').waitFor();
        await page
          .getByRole('button', { name: `packing waiting for signal ${signalOf('A2')}` })
          .first()
          .waitFor();
        expect(await approval.getAttribute('data-same')).to.equal('yes');
        const [entry] = (await historyOf(other)).filter(({ event_id }) => event_id !== null);
        expect(entry?.event_id).to.equal(body.ids[0]);
        await service.post('/v1/signals', { signal: signalOf('A2') });
        await page.getByText('9 steps completed').waitFor();
      }));

    it('has one row per step, its retries inside, and parallel steps together', () =>
      withPage(async (page) => {
        await open(page, `${service.url}/runs/${runId}`);
        await row(page, 'reserve completed on attempt 2').waitFor();
        const names = await page
          .getByRole('list', { name: 'Steps and attempts' })
          .getByRole('listitem')
          .allInnerTexts();
        expect(names).to.have.length(7);
        expect(names.filter((text) => text.includes('3 steps in parallel'))).to.have.length(1);
        await toggle(page, 'charge card').click();
        const attempts = row(page, 'charge card').getByRole('list', { name: 'Attempts' }).locator('> li');
        expect(await attempts.count()).to.equal(3);
        await attempts.nth(1).getByRole('button').click();
        await attempts.nth(1).getByText('the bank did not answer').first().waitFor();
        await attempts
          .nth(2)
          .getByText(/completed/)
          .waitFor();
        await row(page, 'charge card').getByLabel('Step output').getByText('charged').waitFor();
      }));

    it('hides the calls of the function until they are requested, and keeps the choice in the URL', () =>
      withPage(async (page) => {
        await open(page, `${service.url}/runs/${runId}`);
        const calls = row(page, /^Call/);
        await row(page, 'reserve').waitFor();
        expect(await calls.count()).to.equal(0);
        await page.getByRole('checkbox', { name: /Show calls/ }).check();
        await calls.first().waitFor();
        await page.reload();
        await calls.first().waitFor();
        expect(await page.getByRole('checkbox', { name: /Show calls/ }).isChecked()).to.equal(true);
      }));

    it('links a step to the run that it invoked, the events that it sent, and the event that ended its wait', () =>
      withPage(async (page) => {
        const other = await app.start('checkout', { order: 'A3' });
        await isWaiting(other, 'approval');
        await service.post('/e/key', { name: 'shop/approved', data: { order: 'A3' } });
        await isWaiting(other, 'packing');
        const history = await historyOf(other);
        const find = (name: string) => history.findLast((entry) => entry.name === name) as Entry;
        const invoked = find('ship it').run_id;
        const [first, second] = find('tell others').event_ids;
        const expected: [step: string, path: string][] = [
          ['ship it', `/runs/${invoked}`],
          ['tell others', `/events/${first}`],
          ['tell others', `/events/${second}`],
          ['approval', `/events/${find('approval').event_id}`],
        ];
        await open(page, `${service.url}/runs/${other}`);
        for (const [step, path] of expected) {
          await row(page, step).locator(`a[href^="${path}"]`).first().waitFor();
        }
        await row(page, 'ship it').getByRole('link').click();
        await page.getByRole('heading', { level: 1, name: 'ship', exact: true }).waitFor();
        await row(page, 'pack completed').waitFor();
      }));

    it('shows method, host and status of a request, and those of its failed attempts', () =>
      withPage(async (page) => {
        await open(page, `${service.url}/runs/${runId}`);
        await row(page, /check for fraud received response on attempt 2 with status 200/).waitFor();
        await row(page, /check for fraud/)
          .getByText(/POST 127\.0\.0\.1:\d+/)
          .waitFor();
        await toggle(page, 'check for fraud').click();
        await row(page, 'check for fraud').getByText('ProviderError').waitFor();
      }));

    it('works by keyboard, and is accessible with everything open', () =>
      withPage(async (page) => {
        await open(page, `${service.url}/runs/${runId}?calls=true`);
        await toggle(page, 'reserve').focus();
        await page.keyboard.press('Enter');
        await row(page, 'reserve').getByRole('list', { name: 'Attempts' }).waitFor();
        await page.keyboard.press('Tab');
        await page.keyboard.press('Enter');
        await row(page, 'reserve').getByText('the warehouse is closed').first().waitFor();
        await expectAccessible(page);
      }));
  });

  it('names the failed step, and links to its error', () =>
    withPage(async (page) => {
      const runId = await app.start('refused');
      await hasEnded(runId);
      await open(page, `${service.url}/runs/${runId}`);
      await page.getByText('1 of 2 steps completed').waitFor();
      await page.getByRole('button', { name: 'refund', exact: true }).click();
      await row(page, 'refund failed').getByText('the card was refused').first().waitFor();
      expect(await row(page, /^Function/).count()).to.equal(0);
    }));

  it('keeps the sleep in which a run was cancelled', () =>
    withPage(async (page) => {
      const runId = await app.start('sleeper');
      await isWaiting(runId, 'for long');
      await open(page, `${service.url}/runs/${runId}`);
      await row(page, 'for long sleeping').waitFor();
      await service.request('DELETE', `/v1/runs/${runId}`);
      await row(page, 'for long cancelled').waitFor();
      await toggle(page, 'for long').click();
      await row(page, 'for long').getByText('Would have woken').waitFor();
    }));

  it('shows the attempts of a run without steps plainly', () =>
    withPage(async (page) => {
      const runId = await app.start('plain');
      await hasEnded(runId);
      await open(page, `${service.url}/runs/${runId}`);
      await page.getByText('Completed without steps').waitFor();
      await toggle(page, 'Attempt 1 failed').click();
      await row(page, 'Attempt 1 failed').getByText('not yet').first().waitFor();
      await row(page, 'Attempt 2 completed').waitFor();
      expect(await page.getByRole('checkbox', { name: /Show calls/ }).count()).to.equal(0);
    }));

  it('renders few of a thousand rows, and reaches the last one', () =>
    withPage(async (page) => {
      const steps = Array.from({ length: STEPS }, (_, i) => ({
        op: 'StepRun',
        id: `${i}`,
        displayName: `step ${i}`,
        data: i,
      }));
      const wait = {
        op: 'WaitForEvent',
        id: 'end',
        displayName: 'the end',
        opts: { event: 'shop/end', timeout: '1h' },
      };
      host.on('many', ({ number }) => ({ status: 206, body: number === 0 ? steps : [wait] }));
      await host.register(service, [{ id: 'many', triggers: [{ event: 'shop/many' }] }], { appName: 'large' });
      const runId = await start(service, 'shop/many', {});
      await service.waitFor(`/v1/runs/${runId}`, ({ body }) =>
        body.data.history.some(({ name }: Entry) => name === 'the end'),
      );
      await open(page, `${service.url}/runs/${runId}`);
      await page.getByText(`${STEPS} of ${STEPS + 1} steps completed`).waitFor();
      expect(await row(page, /./).count()).to.be.below(100);
      await page
        .getByRole('button', { name: /^the end waiting for event/ })
        .first()
        .click();
      await row(page, 'the end').getByText('Times out').waitFor();
      expect(await violations(page)).to.deep.equal([]);
    }));

  it("links a traced run to the installation's tracing, and copies its trace ID", async () => {
    const collector = await startCollector();
    const traced = await startService({
      env: { ...collector.env, TRACE_URL_TEMPLATE: 'https://traces.example.com/{trace_id}?run={run_id}' },
    });
    const traceId = 'c0ffee'.padEnd(32, '0');
    try {
      await host.register(traced, [{ id: 'traced', triggers: [{ event: 'shop/traced' }] }], { appName: 'traced' });
      const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
      await traced.post('/e/key', { name: 'shop/traced', data: {} }, headers);
      const { body } = await host.nextCall('traced');
      await withPage(
        async (page) => {
          await open(page, `${traced.url}/runs/${body.ctx.run_id}`);
          const link = page.getByRole('link', { name: /opens your tracing/ });
          const address = `https://traces.example.com/${traceId}?run=${body.ctx.run_id}`;
          expect(await link.getAttribute('href')).to.equal(address);
          await page.getByRole('button', { name: 'Copy trace ID' }).click();
          await page.getByText('Copied', { exact: true }).waitFor();
          expect(await page.evaluate('navigator.clipboard.readText()')).to.equal(traceId);
        },
        { permissions: ['clipboard-read', 'clipboard-write'] },
      );
    } finally {
      await traced.stop();
      await collector.close();
    }
  });
});
