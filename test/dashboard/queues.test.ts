import { expect } from 'chai';
import { browserForSuite, open } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';
import { expectAccessible } from './accessible.ts';
import { send } from './fixtures.ts';

describe('The queues in the dashboard', () => {
  const withPage = browserForSuite();
  let service: Service;
  before(async () => {
    service = await startService({ workers: 0 });
  });
  after(() => service.stop());

  it('show what waits, for how long, and what to do; Bull Board opens in a tab of its own', () =>
    withPage(async (page) => {
      await send(service, { name: 'order/placed', data: {} });
      await open(page, `${service.url}/jobs`);
      const advice = page.getByRole('status', { name: 'Queues' });
      await advice.getByText('No worker takes jobs').waitFor();
      const row = page.getByRole('row').filter({ hasText: 'Stores accepted events' });
      await row
        .getByRole('cell')
        .nth(2)
        .getByText(/\d m?s$/)
        .waitFor();
      expect(await row.getByRole('cell').nth(1).innerText()).to.equal('1');
      await page.getByRole('figure', { name: 'Events, received per interval' }).waitFor();
      await expectAccessible(page);
      const [board] = await Promise.all([
        page.waitForEvent('popup'),
        page.getByRole('link', { name: /Jobs in Bull Board/ }).click(),
      ]);
      expect(new URL(board.url()).pathname).to.equal('/queues');
      await board.getByText('ingest').first().waitFor();
      await board.close();
      await service.startWorker();
      await advice.getByText('1 worker keeps up').waitFor();
      await row.getByText('1 done').waitFor();
    }));
});
