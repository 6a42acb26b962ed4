import { expect } from 'chai';
import { type AppHost, type HostResponse, startAppHost } from '../support/app-host.ts';
import { browserForSuite, open } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';
import { expectAccessible } from './accessible.ts';

const RUNS = 3;
const NAP = { id: 'a'.repeat(40), op: 'Sleep', name: '1h', displayName: 'nap' };
const CHARGE = { id: 'b'.repeat(40), op: 'StepPlanned', name: 'charge the card' };
const FUNCTIONS = [{ id: 'remind', triggers: [{ event: 'order/paid' }], throttle: { limit: 100, period: '1s' } }];
const LIMITED = [{ id: 'remind', triggers: [{ event: 'order/paid' }], rateLimit: { limit: 1, period: '1h' } }];
const planned = (op: object): HostResponse => ({ status: 206, body: [op] });

describe('What-if in the dashboard', function () {
  this.timeout(90_000);
  const withPage = browserForSuite({ onePage: true });
  let service: Service;
  let present: AppHost;
  let candidate: AppHost;
  before(async () => {
    service = await startService();
    [present, candidate] = await Promise.all([startAppHost(), startAppHost()]);
    present.on('remind', () => planned(NAP));
    candidate.on('remind', () => planned(CHARGE));
    await present.register(service, FUNCTIONS, { appName: 'shop' });
    candidate.offer(service, LIMITED, { appName: 'shop' });
    await service.post(
      service.eventPath,
      Array.from({ length: RUNS }, () => ({ name: 'order/paid', data: {} })),
    );
    await service.waitFor('/v1/runs?state=sleeping', ({ body }) => body.data?.length === RUNS);
  });
  after(async () => {
    await Promise.all([present.close(), candidate.close()]);
    await service.stop();
  });

  it('a build is asked on the page of its app, and shows what differs, with an example side by side', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/apps/shop`);
      await page.getByRole('button', { name: 'Ask a build' }).click();
      const dialog = page.getByRole('dialog', { name: 'Ask another build' });
      await dialog.getByLabel('URL of the build').fill(candidate.url);
      await expectAccessible(page);
      await dialog.getByRole('button', { name: 'Ask', exact: true }).click();
      await page.getByText('Done').waitFor();
      await page.getByText(`${RUNS} runs: 0 unchanged, ${RUNS} changed, 0 broken`).waitFor();
      const cause = 'It would now run charge the card';
      const example = page.getByRole('region', { name: cause });
      await example.getByText(`${RUNS} active, such as`).waitFor();
      const sides = await example.getByRole('definition').allInnerTexts();
      expect(sides).to.deep.equal(['nap', 'charge the card']);
      const triggers = page.getByRole('list', { name: 'Functions with other triggers or limits' });
      await triggers.getByText('would have 3 events, 1 runs, 2 skipped').waitFor();
      await expectAccessible(page);
      await page.getByRole('link', { name: 'Back to shop' }).click();
      await page.getByRole('list', { name: 'What-ifs' }).getByRole('link', { name: candidate.url }).waitFor();
      await expectAccessible(page);
    }));

  it('says in the dialog why a build cannot be asked', () =>
    withPage(
      async (page) => {
        await open(page, `${service.url}/apps/shop`);
        await page.getByRole('button', { name: 'Ask a build' }).click();
        const dialog = page.getByRole('dialog', { name: 'Ask another build' });
        await dialog.getByLabel('URL of the build').fill('http://127.0.0.1:9/api/service');
        await dialog.getByRole('button', { name: 'Ask', exact: true }).click();
        await dialog.getByText('The app cannot be reached').or(dialog.getByRole('alert')).first().waitFor();
      },
      { forgive: /400 .*what-ifs/ },
    ));
});
