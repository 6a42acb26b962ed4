import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { addUser } from '../support/auth.ts';
import { browserForSuite, open, settled, signIn, write } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';
import { make } from './fixtures.ts';

const BROKEN = 'function transform(evt) { return { name: "order/placed", data: evt.missing.field }; }';
const MENDED = 'function transform(evt) { return { name: "order/placed", data: evt }; }';
const TO_BRANCHES = 'const transform = (evt) => ({ name: "branch/event", data: evt })';
const PREVIEW_FAILS = { forgive: /\/v1\/transforms\/test/ };
const FAILURE = { status: 400, headers: { 'x-service-no-retry': 'true' }, body: { name: 'Error', message: 'broken' } };

describe('Actions on selected rows in the dashboard', () => {
  const withPage = browserForSuite({ onePage: true });
  let service: Service;
  let host: AppHost;
  let isBroken = true;
  before(async () => {
    service = await startService({ dev: false });
    await addUser(service, 'ada@example.com', 'admin');
    host = await startAppHost();
    host.on('charge', () => (isBroken ? FAILURE : {}));
    host.on('large', () => ({}));
    host.offer(
      service,
      [
        { id: 'charge', triggers: [{ event: 'order/paid' }] },
        { id: 'large', triggers: [{ event: 'order/paid', expression: 'event.data.total > 100' }] },
      ],
      { appName: 'shop' },
    );
    await service.post('/v1/apps', { url: host.url }, service.apiHeaders);
    await make(service, '/v1/environments', { name: 'feature', kind: 'branch' });
  });
  after(async () => {
    await host.close();
    await service.stop();
  });

  const get = async (path: string) => (await service.get(path, service.apiHeaders)).body.data;

  async function openAs(page: Page, path: string): Promise<void> {
    if (page.url().startsWith(service.url)) return open(page, `${service.url}${path}`);
    await page.goto(`${service.url}${path}`);
    await signIn(page, 'ada@example.com');
    await settled(page);
  }

  async function send(data: object[], id?: string): Promise<string[]> {
    const events = data.map((item) => ({ name: 'order/paid', data: item, ...(id && { id }) }));
    const { body } = await service.post(service.eventPath, events);
    for (const each of body.ids) await service.waitFor(`/v1/events/${each}/runs`, ({ body: runs }) => runs.data?.[0]);
    return body.ids;
  }

  async function audited(action: string): Promise<{ summary: string }[]> {
    return (await get('/v1/audit?limit=100')).filter((entry: { action: string }) => entry.action === action);
  }

  const bar = (page: Page) => page.getByRole('region', { name: 'Selection' });

  it('resending an event in production asks first, and says what will run and how the deduplication ID is handled', () =>
    withPage(async (page) => {
      const [id] = await send([{ total: 1 }], 'order-1');
      await openAs(page, `/events/${id}`);
      await page.getByRole('button', { name: 'Resend' }).click();
      const dialog = page.getByRole('dialog', { name: 'Resend order/paid in production?' });
      await dialog.getByText('1 function will run').waitFor();
      const functions = dialog.getByRole('list', { name: 'Functions' });
      expect(await functions.innerText())
        .to.include('shop-charge')
        .and.not.include('shop-large');
      await dialog.getByText('The deduplication ID order-1 is dropped').waitFor();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      expect(await audited('POST /v1/events/:id/send-again')).to.have.length(0);
      await page.getByRole('button', { name: 'Resend' }).click();
      await dialog.getByText('1 function will run').waitFor();
      await dialog.getByRole('button', { name: 'Resend' }).click();
      await page.waitForURL((url) => url.pathname.startsWith('/events/') && !url.pathname.endsWith(id as string));
      expect(await audited('POST /v1/events/:id/send-again')).to.have.length(1);
      await page.getByRole('button', { name: 'Edit and send' }).click();
      const edit = page.getByRole('dialog', { name: 'Edit and send' });
      await write(edit.getByRole('textbox').first(), '{"name": "order/paid", "id": "mine", "data": {"total": 500}}');
      await edit.getByRole('button', { name: 'Continue' }).click();
      await edit.getByText('2 functions will run').waitFor();
      await edit.getByText('The deduplication ID mine is kept').waitFor();
      await edit.getByRole('button', { name: 'Back' }).click();
      await edit.getByRole('button', { name: 'Continue' }).waitFor();
    }));

  it('only the selected events are replayed or resent', () =>
    withPage(async (page) => {
      const ids = await send([{ n: 1 }, { n: 2 }, { n: 3 }]);
      for (const id of ids) {
        await service.waitFor(`/v1/events/${id}/runs`, ({ body }) => body.data[0].status === 'Failed');
      }
      isBroken = false;
      await openAs(page, '/events?name=order%2Fpaid');
      const table = page.getByRole('table', { name: 'Events' });
      for (const id of [ids[0], ids[2]])
        await table.getByRole('checkbox', { name: `Select order/paid, ${id}` }).check();
      await bar(page).getByRole('button', { name: 'Replay…' }).click();
      const dialog = page.getByRole('dialog', { name: 'New replay' });
      await dialog.getByText('The 2 selected events').waitFor();
      await dialog.getByRole('button', { name: 'Dry run' }).click();
      await dialog.getByText('Would start 2 runs').waitFor();
      await dialog.getByRole('button', { name: 'Start' }).click();
      await page.waitForURL('**/replays/*');
      await page.getByText('2 selected events', { exact: true }).first().waitFor();
      await open(page, `${service.url}/events?name=order%2Fpaid`);
      for (const id of [ids[0], ids[1]])
        await table.getByRole('checkbox', { name: `Select order/paid, ${id}` }).check();
      await bar(page).getByRole('button', { name: 'Resend…' }).click();
      const resend = page.getByRole('dialog', { name: 'Resend 2 events in production?' });
      await resend.getByText('2 × order/paid').waitFor();
      await resend.getByRole('button', { name: 'Resend 2 events' }).click();
      await page.getByText('2 of 2 events resent').waitFor();
      await bar(page).waitFor({ state: 'detached' });
      const [entry, ...others] = await audited('POST /v1/events/send-again');
      expect(others).to.deep.equal([]);
      expect(entry?.summary).to.match(/, 2 events$/);
    }));

  it('opening and cancelling the dialog that re-runs a webhook request leaves no audit entry', () =>
    withPage(async (page) => {
      const webhook = await make(service, '/v1/webhooks', { name: 'Audit', transform: MENDED });
      const requestId = await deliver(webhook, { n: 1 });
      await openAs(page, `/webhooks/${webhook.id}?tab=requests&request=${requestId}`);
      await page.getByRole('button', { name: 'Re-run', exact: true }).click();
      const dialog = page.getByRole('dialog', { name: 'Re-run this request?' });
      await dialog.getByText('Result with the saved transform').waitFor();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      expect(await audited('POST /v1/webhooks/:id/requests/:rid/rerun')).to.have.length(0);
    }));

  it('after a transform is fixed, the dashboard offers to re-run the requests that it rejected; selected ones can be re-run too', () =>
    withPage(async (page) => {
      const webhook = await make(service, '/v1/webhooks', { name: 'Orders', transform: BROKEN });
      const rejected = [await deliver(webhook, { n: 1 }), await deliver(webhook, { n: 2 })];
      await openAs(page, `/webhooks/${webhook.id}`);
      await write(page.getByRole('textbox', { name: /transform/i }).first(), MENDED);
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      const save = page.getByRole('dialog');
      if (await save.isVisible()) await save.getByRole('button', { name: /^Save/ }).click();
      await page.getByText('2 requests were rejected before this version was saved').waitFor();
      await page.getByRole('button', { name: 'Re-run rejected requests…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Replay logged requests' });
      await dialog.getByText('Requests that the transform or the filter rejected').waitFor();
      await dialog.getByRole('button', { name: 'Dry run' }).click();
      await dialog.getByText('2 requests').first().waitFor();
      await dialog.getByRole('button', { name: 'Close' }).first().click();
      expect(await audited('POST /v1/webhooks/:id/replays')).to.have.length(0);
      await page.getByRole('link', { name: 'Requests', exact: true }).click();
      await page.getByRole('checkbox', { name: new RegExp(`Select request ${rejected[0]}`) }).check();
      await bar(page).getByRole('button', { name: 'Re-run…' }).click();
      await dialog.getByText('The selected request').waitFor();
      await dialog.getByRole('button', { name: 'Dry run' }).click();
      await dialog.getByText('1 request', { exact: true }).waitFor();
      await dialog.getByRole('button', { name: 'Start' }).click();
      await page.getByText('Made an event: 1').waitFor();
      expect(await audited('POST /v1/webhooks/:id/replays')).to.have.length(1);
      // The preview of the broken transform.
    }, PREVIEW_FAILS));

  it('selected held events are assigned, or discarded after a confirmation', () =>
    withPage(async (page) => {
      const fields = { name: 'Branches', environment: 'branches', transform: TO_BRANCHES };
      const path = new URL((await make(service, '/v1/webhooks', fields)).url).pathname;
      const ids: string[] = [];
      for (let n = 0; n < 4; n++) ids.push((await service.post(path, { n })).body.ids[0]);
      await openAs(page, '/held-events');
      const table = page.getByRole('table', { name: 'Held events' });
      const select = (id: string | undefined) =>
        table.getByRole('checkbox', { name: `Select branch/event, ${id}` }).check();
      await select(ids[0]);
      await select(ids[1]);
      await bar(page).getByRole('button', { name: 'Assign…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Assign 2 selected events' });
      await dialog.getByRole('combobox', { name: 'Environment' }).selectOption('feature');
      await dialog.getByRole('button', { name: 'Assign', exact: true }).click();
      await page.getByText('2 events assigned to feature').waitFor();
      await select(ids[2]);
      await bar(page).getByRole('button', { name: 'Discard…' }).click();
      const question = page.getByRole('dialog', { name: 'Discard 1 selected event?' });
      await question.getByRole('button', { name: 'Discard', exact: true }).click();
      await page.getByText('1 event discarded').waitFor();
      const held = await get('/v1/holding');
      expect(held.map((event: { internal_id: string }) => event.internal_id)).to.deep.equal([ids[3]]);
    }));

  /** @returns the ID of the logged request */
  async function deliver(webhook: { id: string; url: string }, body: object): Promise<string> {
    const { headers } = await service.post(new URL(webhook.url).pathname, body);
    const id = headers.get('x-request-id') as string;
    await service.waitFor(`/v1/webhooks/${webhook.id}/requests/${id}`, ({ status }) => status === 200);
    return id;
  }
});
