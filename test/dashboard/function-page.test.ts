import { expect } from 'chai';
import { FunctionBuffer } from '../../src/store/telemetry/function-buffer.ts';
import { type AppHost, type FunctionSpec, startAppHost } from '../support/app-host.ts';
import { browserForSuite, open } from '../support/browser.ts';
import { type OwnStore, openStore } from '../support/own-store.ts';
import { Receiver } from '../support/receiver.ts';
import { type Service, startService } from '../support/service.ts';
import { expectAccessible } from './accessible.ts';

const HOUR_MS = 3_600_000;
const APP = { appName: 'shop' };
const PAY: FunctionSpec = {
  id: 'pay',
  triggers: [{ event: 'order/*' }, { cron: 'TZ=Europe/Vienna 30 7 * * *' }],
  concurrency: [{ limit: 1, key: 'event.data.customer' }],
};

describe('The function page of the dashboard', function () {
  this.timeout(90_000);
  const withPage = browserForSuite({ onePage: true });
  let service: Service;
  let host: AppHost;
  let store: OwnStore;
  before(async () => {
    service = await startService();
    host = await startAppHost();
    await host.register(service, [PAY], APP);
    await host.register(
      service,
      [
        { ...PAY, retries: 2 },
        { id: 'ship', triggers: [{ event: 'never/sent' }] },
      ],
      APP,
    );
    store = await openStore(service.prefix);
    const now = Date.now();
    for (const ago of [0, 2, 3, 5]) await store.functionSeries.add(counted(ago), now - ago * HOUR_MS);
    const { body } = await service.post('/e/key', { name: 'order/paid', data: { customer: 'ada' } });
    await service.waitFor(`/v1/events/${body.ids[0]}/runs`, ({ body }) => body.data?.[0]?.status === 'Completed');
  });
  after(async () => {
    await host.close();
    await service.stop();
    await store.close();
  });

  /** Ten runs, of which as many fail as it was hours ago. */
  function counted(hoursAgo: number): FunctionBuffer {
    const buffer = new FunctionBuffer();
    for (let n = 0; n < 10; n++) {
      buffer.count('production', 'shop-pay', 'started');
      buffer.count('production', 'shop-pay', n < hoursAgo ? 'failed' : 'completed');
      buffer.timeRun('production', 'shop-pay', 2_000);
      buffer.timeStep('production', 'shop-pay', 'charge the card', 1_000, n < hoursAgo);
      buffer.timeStep('production', 'shop-pay', 'write the receipt', 20, false);
    }
    return buffer;
  }

  it('shows runs, failures and the percentiles of durations over time, in the selected range', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/functions/shop-pay`);
      const figure = (name: string) => page.getByRole('term').filter({ hasText: name }).locator('xpath=../dd');
      await figure('Failed').first().getByText('10', { exact: true }).waitFor();
      expect(await figure('Duration').innerText()).to.match(/^(1\.9|2\.\d) s \/ .* s \/ .* s$/);
      await figure('Failure rate').getByText('25%', { exact: true }).waitFor();
      await figure('Waiting now').getByText('0', { exact: true }).waitFor();
      const runs = page.getByRole('figure', { name: 'Runs over time' });
      await runs.getByText('At most 10 in 30 min').waitFor();
      await runs.getByText(/^Values/).click();
      const last = runs.getByRole('row').nth(1);
      await last.getByText('(so far)').waitFor();
      expect(await runs.getByRole('row').count()).to.be.within(49, 50);
      await page.getByRole('link', { name: '1h', exact: true }).click();
      await page.waitForURL('**/functions/shop-pay?range=1h');
      await page.getByRole('heading', { name: 'Last hour' }).waitFor();
      await figure('Failed').first().getByText('0', { exact: true }).waitFor();
    }));

  it('begins with what is recent: how it goes, and the last runs by their events', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/functions/shop-pay`);
      await page.getByRole('link', { name: 'order/paid customer: "ada"' }).waitFor();
      const headings = (await page.getByRole('heading', { level: 2 }).allInnerTexts()).slice(0, 2);
      expect(headings).to.deep.equal(['Last 24 hours', 'Recent runs']);
    }));

  it('one of two runs is a bar as visible as one of two million, and dragging across bars lists their runs', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/functions/shop-pay?range=1h`);
      const runs = page.getByRole('figure', { name: 'Runs over time' });
      await runs.getByText(/^At most \d+ in 1 min$/).waitFor();
      const heights = await runs
        .locator('svg rect.fill-good')
        .evaluateAll((all) => all.map((bar) => bar.getBoundingClientRect().height));
      expect(Math.max(...heights)).to.be.greaterThan(60);
      const box = await runs.locator('svg').first().boundingBox();
      if (!box) throw new Error('the chart is not there');
      await page.mouse.move(box.x + box.width / 2, box.y + 20);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width - 2, box.y + 20, { steps: 4 });
      await page.mouse.up();
      await page.waitForURL('**/runs?function=shop-pay&from=*&to=*');
    }));

  it('the list of functions shows each one’s runs by hour, its last run and its whole triggers, with two requests', () =>
    withPage(async (page) => {
      const requests: string[] = [];
      page.on('request', (request) => requests.push(new URL(request.url()).pathname));
      await open(page, `${service.url}/functions`);
      const row = page.getByRole('table', { name: 'Functions' }).getByRole('row').filter({ hasText: 'order/*' });
      await row.getByRole('img', { name: '1 run by hour, 0 failed' }).waitFor();
      await row.getByText(/^(now|\d+ (s|min) ago)$/).waitFor();
      await row.getByText('TZ=Europe/Vienna 30 7 * * *').waitFor();
      expect(requests.filter((path) => path.startsWith('/v1/functions')).sort()).to.deep.equal([
        '/v1/functions',
        '/v1/functions/stats',
      ]);
    }));

  it('marks the deploys of its app in the charts, and lists what changed', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/functions/shop-pay`);
      const runs = page.getByRole('figure', { name: 'Runs over time' });
      await runs.locator('[data-mark]').first().waitFor();
      const marks = await runs
        .locator('[data-mark]')
        .evaluateAll((all) => all.map((mark) => mark.getAttribute('data-mark')));
      // They are of the interval that has not ended.
      expect(marks).to.have.length(2);
      expect(marks[0]).to.match(/^Deploy \d\d:\d\d: 1 function added, 1 changed$/);
      expect(await runs.locator('figcaption').innerText()).to.include(marks[0] as string);
      const deploys = page.getByRole('region', { name: 'Deploys in this time range' });
      await deploys.getByText('What changed').first().click();
      await deploys.getByRole('link', { name: 'shop-ship' }).waitFor();
      await deploys.getByText('(steps)').waitFor();
    }));

  it('lists its steps with percentiles, and shows the selected one over time', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/functions/shop-pay`);
      const steps = page.getByRole('table', { name: 'Steps of the function in the time range' });
      const row = steps.getByRole('row').filter({ hasText: 'charge the card' });
      expect((await row.innerText()).replaceAll(/\s+/g, ' ')).to.match(/^charge the card 40 10 \(25%\) [\d.]+ (ms|s) /);
      await steps.getByRole('link', { name: 'charge the card' }).click();
      await page.waitForURL('**?step=charge+the+card');
      const chart = steps.getByRole('figure', { name: 'Duration of the step charge the card' });
      await chart.locator('canvas').waitFor();
      await chart.getByText(/^Values/).click();
      await chart
        .getByRole('cell', { name: /^(9\d\d ms|1(\.\d)? s)$/ })
        .first()
        .waitFor();
      await steps.getByRole('link', { name: 'charge the card' }).click();
      await chart.waitFor({ state: 'detached' });
    }));

  it('shows the next ticks of a schedule in its time zone, and where its registration comes from', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/functions/shop-pay`);
      await page.getByText('Next 5 times').click();
      const ticks = page.getByRole('list', { name: 'Next times' }).getByRole('listitem');
      expect(await ticks.allInnerTexts()).to.have.length(5);
      for (const text of await ticks.allInnerTexts()) expect(text).to.match(/07:30:00 .*\(Europe\/Vienna\)$/);
      await page.getByText('test:v1.0.0').waitFor();
      await page
        .getByText(/1 function added, 1 changed/)
        .last()
        .waitFor();
      await page.getByText('Configuration as registered').click();
      await page.getByText('concurrency').first().waitFor();
    }));

  it('a wildcard trigger links to the events that it matches', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/functions/shop-pay`);
      await page.getByRole('link', { name: 'order/*' }).click();
      await page.waitForURL('**/events?name=order%2F*');
      const events = page.getByRole('table', { name: 'Events' });
      await events.getByRole('link', { name: 'order/paid' }).waitFor();
      await page.getByText(/^\d+ events? of all names/).waitFor();
    }));

  it('is accessible with its charts and tables open, even on a phone', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/functions/shop-pay?range=1h&step=charge%20the%20card`);
      await page.getByText('Durations of runs over time').click();
      await page.locator('canvas').nth(1).waitFor();
      for (const values of await page.getByText(/^Values/).all()) await values.click();
      await expectAccessible(page);
    }));

  it('is the page of a destination too, which a form creates, edits and deletes, and which a test reaches', () =>
    withPage(async (page) => {
      const receiver = await Receiver.start();
      try {
        await open(page, `${service.url}/destinations`);
        await page.getByRole('button', { name: 'Create destination' }).click();
        const form = page.getByRole('dialog', { name: 'Create destination' });
        await form.getByLabel('Name', { exact: true }).fill('crm');
        await form.getByLabel('URL').fill(receiver.url('/crm'));
        await form.getByLabel('Events').fill('crm/a crm/b.*');
        await form.getByLabel('Filter').fill('event.data.total > 10');
        await form.getByLabel('Headers', { exact: true }).fill('Authorization: Bearer s3cret:1');
        await form.getByRole('button', { name: 'Create destination' }).click();
        const secret = page.getByRole('dialog', { name: 'Signing secret' });
        await secret.getByText(/^whsec_/).waitFor();
        await secret.getByRole('button', { name: 'Done' }).click();
        await page.getByRole('link', { name: 'crm', exact: true }).click();
        await page.waitForURL('**/functions/destination*crm');
        await page.getByText(receiver.url('/crm')).first().waitFor();
        await page.getByRole('button', { name: 'Edit' }).click();
        const edit = page.getByRole('dialog', { name: 'Edit crm' });
        await edit.getByText('Set: authorization.').waitFor();
        await edit.getByLabel('Body').selectOption('data');
        await edit.getByRole('button', { name: 'Save' }).click();
        await page.getByText('The data of the event').waitFor();
        await expectAccessible(page);
        await page.getByRole('button', { name: 'Test' }).click();
        await page.getByRole('dialog', { name: 'Test crm' }).getByRole('button', { name: 'Invoke' }).click();
        await page.waitForURL('**/runs/*');
        const [received] = await receiver.got('/crm');
        expect([received?.headers.authorization, received?.body.toString()]).to.deep.equal(['Bearer s3cret:1', '{}']);
        await page.goBack();
        await page.getByRole('button', { name: 'Rotate secret' }).click();
        await page.getByRole('dialog', { name: 'Rotate' }).getByRole('button', { name: 'Rotate secret' }).click();
        await secret.getByRole('button', { name: 'Done' }).click();
        await page.getByRole('button', { name: 'Delete' }).click();
        await page.getByRole('dialog', { name: 'Delete crm?' }).getByRole('button', { name: 'Delete' }).click();
        await page.getByText('No destinations yet').waitFor();
      } finally {
        await receiver.stop();
      }
    }));
});
