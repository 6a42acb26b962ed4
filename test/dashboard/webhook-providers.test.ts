import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import Stripe from 'stripe';
import { addUser } from '../support/auth.ts';
import { violationsInSchemes } from '../support/axe.ts';
import { browserForSuite, open, settled, signIn, write } from '../support/browser.ts';
import { FAKE_KEY, type FakeItem, headersOf, startFakeSentLists, stripeItem } from '../support/fake-sent-lists.ts';
import { send } from '../support/provider-tests.ts';
import { type Service, startService } from '../support/service.ts';
import { tooWide } from './accessible.ts';
import { make } from './fixtures.ts';

const stripe = new Stripe('sk_test_none');
const RIGHT = 'whsec_right';
const PHONE = { width: 390, height: 844 };
/** A dry run of a request that is not verified. */
const NOT_VERIFIED = /401 .*\/rerun/;

describe('Providers of webhooks in the dashboard', () => {
  const withPage = browserForSuite({ onePage: true });
  let service: Service;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  it('Stripe: a webhook is created without its secret, which is pasted later; a genuine request appears live as verified', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/webhooks`);
      await page.getByRole('button', { name: 'Create webhook' }).click();
      await page.getByRole('searchbox', { name: 'Search providers' }).fill('strip');
      await page.keyboard.press('Enter');
      await page.getByRole('dialog', { name: 'Create webhook: Stripe' }).waitFor();
      await page.getByRole('button', { name: 'Create', exact: true }).click();
      await page.waitForURL('**/webhooks/*tab=setup*');
      await page.getByText('no secret', { exact: true }).waitFor();
      const url = await urlOf(page);
      expect(await page.getByRole('listitem').filter({ hasText: 'Endpoint URL' }).innerText()).to.include(
        '/e/••••••••',
      );
      await page.getByText('Waiting for the first request…').waitFor();
      await page.getByLabel('Signing secret').fill(RIGHT);
      await page.getByRole('button', { name: 'Save secret' }).click();
      await page.getByText('Secret saved').waitFor();
      expect((await send(url, signed(RIGHT, 'evt_1'))).status).to.equal(200);
      await page.getByText('Verified with the secret').waitFor();
      await page.getByRole('link', { name: 'stripe/invoice.paid' }).click();
      await page.getByRole('heading', { level: 1, name: 'stripe/invoice.paid' }).waitFor();
      await page.getByRole('definition').getByText('verified', { exact: true }).waitFor();
    }));

  it('a wrong secret: the page says why, accepts the right one, verifies the request again, and re-runs it', () =>
    withPage(
      async (page) => {
        await open(page, `${service.url}/webhooks?new=stripe`);
        await page.getByLabel('Name').fill('Shop payments');
        await page.getByLabel('Signing secret').fill('whsec_wrong');
        await page.getByRole('button', { name: 'Create', exact: true }).click();
        await page.getByText('Waiting for the first request…').waitFor();
        expect((await send(await urlOf(page), signed(RIGHT, 'evt_2'))).status).to.equal(401);
        await page.getByText('Not verified: the signature does not match').waitFor();
        expect(await page.locator('main').innerText()).to.match(/Compare the secret with the provider/);
        await page.getByLabel('Signing secret').fill('whsec_wrong_again');
        await page.getByRole('button', { name: 'Save and verify again' }).click();
        await page.getByText('Still not verified: the signature does not match').waitFor();
        await page.getByLabel('Signing secret').fill(RIGHT);
        await page.getByRole('button', { name: 'Save and verify again' }).click();
        await page.getByText('The request is verified now.').waitFor();
        await page.getByText('Run it again to make stripe/invoice.paid').waitFor();
        await page.getByRole('button', { name: 'Re-run request' }).click();
        await page.getByText('Verified with the secret').waitFor();
        await page.getByRole('link', { name: 'Open request' }).click();
        await page.getByRole('definition').getByText('verified', { exact: true }).waitFor();
        await page.getByRole('link', { name: 'stripe/invoice.paid' }).waitFor();
        await page.getByRole('link', { name: 'All requests' }).click();
        await page.getByRole('row').getByText('Not verified: the signature does not match').waitFor();
      },
      { forgive: NOT_VERIFIED },
    ));

  it('an invalid secret is rejected at its field', () =>
    withPage(
      async (page) => {
        await open(page, `${service.url}/webhooks?new=stripe`);
        await page.getByLabel('Signing secret').fill('sk_live_no');
        await page.getByRole('button', { name: 'Create', exact: true }).click();
        await page.getByRole('alert').getByText('such as whsec_…').first().waitFor();
      },
      { forgive: /400 .*\/v1\/webhooks/ },
    ));

  it('HMAC of any provider: the form asks how requests are signed', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/webhooks`);
      await page.getByRole('button', { name: 'Create webhook' }).click();
      await page.getByRole('button', { name: 'Any provider with an HMAC signature' }).click();
      await page.getByLabel('Name', { exact: true }).fill('Own signatures');
      await page.getByLabel('Secret', { exact: true }).fill('much secret');
      await page.getByLabel('Algorithm').selectOption('sha512');
      await page.getByLabel('Encoding').selectOption('base64');
      await page.getByLabel('Signature: name').fill('X-Our-Signature');
      await page.getByLabel('Signature: prefix').fill('v1:');
      await page.getByLabel('What is signed').fill('{timestamp}:{body}');
      await page.getByLabel('Requests have a timestamp').check();
      await page.getByLabel('Timestamp: name').fill('x-our-time');
      await page.getByLabel('Unit').selectOption('ms');
      await page.getByRole('button', { name: 'Create', exact: true }).click();
      await page.getByText('Waiting for the first request…').waitFor();
      const body = '{"order": 1}';
      const time = String(Date.now());
      const signature = createHmac('sha512', 'much secret').update(`${time}:${body}`).digest('base64');
      const headers = { 'x-our-signature': `v1:${signature}`, 'x-our-time': time };
      expect((await send(await urlOf(page), { headers, body })).status).to.equal(200);
      await page.getByText('Verified with the secret').waitFor();
    }));

  it('Meta: the form asks for its setting, and the handshake that checks the URL appears live', () =>
    withPage(async (page) => {
      await open(page, `${service.url}/webhooks?new=meta`);
      await page.getByLabel('App secret').fill('0123456789abcdef0123456789abcdef');
      await page.getByLabel('Verify token').fill('own-token');
      await page.getByRole('button', { name: 'Create', exact: true }).click();
      await page.getByText('Waiting for the first request…').waitFor();
      const query = 'hub.mode=subscribe&hub.verify_token=own-token&hub.challenge=42';
      const response = await send(await urlOf(page), { method: 'GET', headers: {}, query, body: '' });
      expect(response).to.deep.equal({ status: 200, body: 42 });
      await page.getByText('The service answered the provider’s handshake').waitFor();
      await page.getByRole('link', { name: 'Requests', exact: true }).click();
      await page.getByRole('button', { name: 'Handshake' }).click();
      await page.getByRole('row').getByText('Handshake answered').waitFor();
    }));

  it('the log shows all events of a request, and the response that its transform gave', () =>
    withPage(async (page) => {
      const transform = `function transform(evt) {
        const events = evt.items.map((item) => ({ name: 'shop/item', data: item }));
        return { events, response: { status: 202 } };
      }`;
      const { id, url } = await make(service, '/v1/webhooks', { name: 'Items', transform });
      await open(page, `${service.url}/webhooks/${id}?tab=requests`);
      const response = await send(url, { headers: {}, body: '{"items": [{"n": 1}, {"n": 2}]}' });
      expect(response.status).to.equal(202);
      const row = page.getByRole('row').filter({ hasText: 'shop/item' });
      await row.getByText('and 1 more').waitFor();
      await row.getByRole('link', { name: 'shop/item' }).click();
      await page.getByText('(set by the transform)').waitFor();
      const events = page.locator('dl > div').filter({ has: page.getByRole('term').filter({ hasText: 'Events' }) });
      expect(await events.getByRole('link').count()).to.equal(2);
      await page.getByRole('button', { name: 'Re-run' }).click();
      await page.getByRole('region', { name: 'Response to the provider' }).getByText('202').waitFor();
    }));

  it('settings: both secrets verify during a rotation until the former one is removed', () =>
    withPage(async (page) => {
      const { id, url } = await createStripe('Rotated');
      await open(page, `${service.url}/webhooks/${id}?tab=settings`);
      await page.getByRole('button', { name: 'Rotate secret' }).click();
      const dialog = page.getByRole('dialog', { name: 'Rotate secret' });
      await dialog.getByLabel('Signing secret').fill('whsec_next');
      await dialog.getByLabel('Present secret').selectOption('Keep it for an hour');
      await dialog.getByRole('button', { name: 'Rotate secret' }).click();
      const secrets = page.getByRole('list', { name: 'Secrets' });
      await secrets.getByText('Former secret').waitFor();
      await service.waitFor(`/v1/webhooks/${id}`, ({ body }) => body.data.secrets.length === 2);
      expect((await send(url, signed(RIGHT, 'evt_3'))).status).to.equal(200);
      await secrets.getByRole('listitem').filter({ hasText: 'Former secret' }).getByText('last matched').waitFor();
      await secrets.getByRole('listitem').filter({ hasText: 'Former' }).getByRole('button', { name: 'Remove' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
      await secrets.getByText('Former secret').waitFor({ state: 'detached' });
      expect(await page.content()).not.to.include('whsec_next');
    }));

  it('a reconciled webhook says what is missing and why, and is complete after its transform is mended', () =>
    withPage(async (page) => {
      const fake = await startFakeSentLists();
      try {
        const at = Date.now() - 600_000;
        fake.sent = [stripeItem(1, at - 1_000), stripeItem(2, at)];
        const { id, url } = await make(service, '/v1/webhooks', {
          name: 'Reconciled',
          provider: 'stripe',
          secrets: [RIGHT],
          transform:
            'function transform(evt) { if (evt.id.endsWith("2")) throw new Error("no"); return { name: "a/b", data: {} }; }',
          reconciliation: { key: FAKE_KEY, account: { endpoint: 'we_other' }, api_url: fake.url },
        });
        const first = fake.sent[0] as FakeItem;
        const sent = { headers: headersOf('stripe', RIGHT, first), body: first.body };
        expect((await send(url, sent)).status).to.equal(200);
        await open(page, `${service.url}/webhooks/${id}?tab=settings`);
        await page.getByLabel('Endpoint ID').fill('we_1');
        await page.getByLabel('Restricted key').fill(FAKE_KEY);
        await page.getByRole('button', { name: 'Save reconciliation' }).click();
        await page.getByText('Reconciliation saved').waitFor();
        const completeness = page.getByRole('region', { name: 'Completeness' });
        await completeness.getByText('Requests of the last minute').waitFor();
        await service.post(`/v1/webhooks/${id}/reconcile`, { since: new Date(at - 60_000).toISOString() });
        await service.waitFor(
          `/v1/webhooks/${id}/completeness`,
          ({ body }) => body.data.missing === 1 && !body.data.is_running,
        );
        await page.reload();
        await completeness.getByText('2 sent, 1 came, 0 recovered, 1 missing').waitFor();
        await completeness.getByRole('list', { name: 'Missing requests' }).getByText('Transform failed').waitFor();
        await service.request('PATCH', `/v1/webhooks/${id}`, {
          transform: 'function transform() { return { name: "a/c", data: {} }; }',
        });
        await completeness.getByRole('button', { name: 'Reconcile' }).click();
        await completeness.getByText('2 sent, 1 came, 1 recovered, 0 missing').waitFor();
        await completeness.getByText('complete', { exact: true }).waitFor();
        expect(await page.content()).not.to.include(FAKE_KEY);
      } finally {
        await fake.close();
      }
    }));

  it('settings: a filter is checked, and its card counts the requests that it dropped', () =>
    withPage(
      async (page) => {
        const { id, url } = await createStripe('Filtered');
        await open(page, `${service.url}/webhooks/${id}?tab=settings`);
        const filter = page.getByRole('textbox', { name: 'Filter' });
        await filter.click();
        await page.locator('.cm-content[aria-label=Filter]').waitFor();
        await write(filter, 'body.type ==');
        await page.getByRole('button', { name: 'Save filter' }).click();
        await page.getByRole('alert').waitFor();
        await write(filter, 'body.type == "invoice.created"');
        await page.getByRole('button', { name: 'Save filter' }).click();
        await page.getByText('Filter saved').waitFor();
        expect((await send(url, signed(RIGHT, 'evt_4'))).body.ids).to.deep.equal([]);
        await page.getByText('1 request of the log dropped.').waitFor();
        await page.getByRole('link', { name: 'Show them' }).click();
        await page.getByRole('row').getByText('Filter not met').waitFor();
      },
      { forgive: /400 .*\/v1\/webhooks/ },
    ));

  it('settings: verification is turned off with a warning, and the log says that it was skipped', () =>
    withPage(async (page) => {
      const { id, url } = await createStripe('Unverified');
      await open(page, `${service.url}/webhooks/${id}?tab=settings`);
      await page.getByLabel('Verify requests').uncheck();
      await page.getByText('Anyone who knows the URL can then send').waitFor();
      await page.getByRole('button', { name: 'Save provider' }).click();
      await page.getByText('Provider saved').waitFor();
      const { body } = await send(url, { headers: {}, body: signed(RIGHT, 'evt_5').body });
      expect(body.ids).to.have.length(1);
      await page.getByRole('link', { name: 'Requests', exact: true }).click();
      await page.getByRole('row').getByText('skipped').waitFor();
    }));

  it('these pages violate no rule of axe, in light and dark, and do not scroll sideways on a phone', () =>
    withPage(
      async (page) => {
        const { id, url } = await createStripe('Checked');
        await send(url, signed('whsec_other', 'evt_6'));
        await service.waitFor(`/v1/webhooks/${id}/requests`, ({ body }) => body.data.length === 1);
        const paths = ['?new=choose', '?new=stripe', '?new=hmac', '?new=jwt', '?new=none', `/${id}?tab=setup`];
        paths.push(`/${id}?tab=settings`, `/${id}?tab=requests`);
        const faults: string[] = [];
        for (const path of paths) {
          await open(page, `${service.url}/webhooks${path}`);
          faults.push(...(await violationsInSchemes(page)).map((fault) => `${path} ${fault}`));
          faults.push(...(await tooWide(page)).map((fault) => `${path} is ${fault}`));
        }
        expect(faults.join('\n')).to.equal('');
      },
      { viewport: PHONE, isMobile: true, hasTouch: true },
    ));

  async function createStripe(name: string) {
    return make(service, '/v1/webhooks', { name, provider: 'stripe', secrets: [RIGHT] });
  }
});

describe('Providers of webhooks in the dashboard, for users with read access', () => {
  const withPage = browserForSuite();
  let service: Service;
  before(async () => {
    service = await startService({ dev: false, workers: 0 });
    await addUser(service, 'ada@example.com', 'read-only');
  });
  after(() => service.stop());

  it('hide the URL and the secret fields, and disable every change', () =>
    withPage(async (page) => {
      const { id } = await make(service, '/v1/webhooks', { name: 'Payments', provider: 'stripe' });
      await page.goto(`${service.url}/webhooks/${id}?tab=setup`);
      await signIn(page, 'ada@example.com');
      await settled(page);
      await page.getByText('Saving it requires write access.').waitFor();
      expect(await page.getByLabel('Signing secret').count()).to.equal(0);
      expect(await page.locator('main').innerText()).not.to.include('/e/');
      await open(page, `${service.url}/webhooks/${id}?tab=settings`);
      expect(await page.getByLabel('Verify requests').isDisabled()).to.equal(true);
      expect(await page.getByRole('button', { name: 'Add secret' }).isDisabled()).to.equal(true);
      await open(page, `${service.url}/webhooks?new=stripe`);
      expect(await page.getByRole('dialog').count()).to.equal(0);
    }));
});

async function urlOf(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'Show URL' }).click();
  return page.locator('code').filter({ hasText: '/e/' }).first().innerText();
}

/** As Stripe signs it. */
function signed(secret: string, id: string) {
  const body = JSON.stringify({ id, type: 'invoice.paid', created: 1_768_383_012, data: { object: { id: 'in_1' } } });
  const signature = stripe.webhooks.generateTestHeaderString({ payload: body, secret });
  return { headers: { 'content-type': 'application/json', 'stripe-signature': signature }, body };
}
