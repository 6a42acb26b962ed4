import { expect } from 'chai';
import { addUser } from '../support/auth.ts';
import { browserForSuite, open, settled, signIn, write } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';
import { expectAccessible } from './accessible.ts';
import { make } from './fixtures.ts';

const BROKEN = `function transform(evt) { throw new Error('no such field'); }`;
const MENDED = `function transform(evt) { return { name: 'order/placed', data: { number: evt.number } }; }`;
/** The sample of the workbench fails in the broken transform. */
const FAILED_TRANSFORM = /400 .*\/v1\/transforms\/test/;

describe('Issues of webhooks in the dashboard', () => {
  const withPage = browserForSuite();
  let service: Service;
  before(async () => {
    service = await startService({ archive: true });
  });
  after(() => service.stop());

  const webhookNamed = (name: string) => make(service, '/v1/webhooks', { name, transform: BROKEN });
  const deliver = (url: string, number: number) => service.post(new URL(url).pathname, { number });

  it('an issue opens live after a failed request, is acknowledged, and its requests are replayed once the transform is fixed', () =>
    withPage(
      async (page) => {
        const { id, url } = await webhookNamed('Shop orders');
        await open(page, `${service.url}/webhook-issues`);
        await page.getByText('No issues').waitFor();
        for (const number of [1, 2]) expect((await deliver(url, number)).status).to.equal(400);
        const issue = page.getByRole('list', { name: 'Issues' }).getByRole('listitem').first();
        await issue.getByText('The transform or the filter fails').waitFor();
        await issue.getByText('transform failed: 2').waitFor();
        await page
          .getByRole('navigation', { name: 'Pages' })
          .getByRole('link', { name: 'Webhook issues 1 open' })
          .waitFor();
        await issue.getByRole('link', { name: 'Last failed request' }).click();
        await page.getByText('no such field').first().waitFor();
        await page.goBack();
        await issue.getByRole('button', { name: 'Acknowledge', exact: true }).click();
        await issue.getByText('acknowledged', { exact: true }).waitFor();
        await issue.getByRole('link', { name: 'Shop orders' }).click();
        await page.getByRole('link', { name: 'Transform', exact: true }).click();
        await write(page.getByRole('textbox', { name: 'Transform' }), MENDED);
        await page.getByRole('button', { name: 'Save' }).click();
        await page.getByText('Transform saved').waitFor();
        await page.getByRole('link', { name: 'Issues', exact: true }).last().click();
        await page.getByRole('button', { name: 'Replay all that failed' }).click();
        const dialog = page.getByRole('dialog', { name: 'Replay all that failed' });
        await dialog.getByText('2 requests').waitFor();
        await dialog.getByText('New event: 2').waitFor();
        await dialog.getByRole('button', { name: 'Start' }).click();
        const replays = page.getByRole('list', { name: 'Replays' });
        await replays.getByText('2 of 2 requests').waitFor();
        await replays.getByRole('button', { name: 'Made an event: 2' }).waitFor();
        await page.getByText(/^Replayed .* by dev mode$/).waitFor();
        await page.getByRole('button', { name: 'Replay all that failed' }).click();
        await dialog.getByText('2 requests').waitFor();
        await dialog.getByRole('button', { name: 'Start' }).click();
        const again = page.getByRole('dialog', { name: 'Start once more?' });
        await again.getByText(/by dev mode/).waitFor();
        await expectAccessible(page);
        expect((await service.get(`/v1/webhooks/${id}/replays`)).body.data).to.have.length(1);
        await again.getByRole('button', { name: 'Start again' }).click();
        await replays.getByRole('listitem').nth(1).waitFor();
        await page.getByRole('button', { name: 'Resolve' }).click();
        await page.getByText('resolved', { exact: true }).waitFor();
        const { body } = await service.get(`/v1/webhooks/${id}/issues`);
        expect(body.data[0].state).to.equal('resolved');
        await page
          .getByRole('navigation', { name: 'Pages' })
          .getByRole('link', { name: 'Webhook issues', exact: true })
          .waitFor();
      },
      { forgive: FAILED_TRANSFORM },
    ));

  it('the list of webhooks counts the issues of each; axe finds no violations in light mode, in dark mode and on a phone', () =>
    withPage(async (page) => {
      const { id, url } = await webhookNamed('Broken');
      await open(page, `${service.url}/webhooks`);
      await deliver(url, 1);
      await page.getByRole('link', { name: '1 issue', exact: true }).click();
      await page.getByRole('link', { name: 'Issues (1 open)' }).waitFor();
      await page.getByRole('button', { name: 'Replay all that failed' }).click();
      const dialog = page.getByRole('dialog', { name: 'Replay all that failed' });
      await dialog.getByText('1 request').waitFor();
      await expectAccessible(page);
      for (const path of ['/webhook-issues', `/webhooks/${id}?tab=issues`, '/webhooks']) {
        await open(page, service.url + path);
        await page.getByText('issue', { exact: false }).first().waitFor();
        await expectAccessible(page);
      }
      await open(page, `${service.url}/webhook-issues?state=resolved&kind=silence`);
      await page.getByText('No issues').waitFor();
    }));
});

describe('Issues of webhooks in the dashboard, for users with read access', () => {
  const withPage = browserForSuite();
  let service: Service;
  before(async () => {
    service = await startService({ dev: false });
    await addUser(service, 'reader@example.com', 'read-only');
  });
  after(() => service.stop());

  it('are visible but cannot be changed', () =>
    withPage(async (page) => {
      const { url } = await make(service, '/v1/webhooks', { name: 'Broken', transform: BROKEN });
      await service.post(new URL(url).pathname, {});
      await page.goto(service.url);
      await signIn(page, 'reader@example.com');
      await settled(page);
      await page.getByRole('link', { name: 'Issues 1 open' }).click();
      await page.getByText('Requires write access').waitFor();
      expect(await page.getByRole('button', { name: 'Acknowledge', exact: true }).count()).to.equal(0);
    }));
});
