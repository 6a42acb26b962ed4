import { expect } from 'chai';
import Stripe from 'stripe';
import { presetOf } from '../../src/providers/catalog.ts';
import { itVerifies, send } from '../support/provider-tests.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const stripe = new Stripe('sk_test_none');
const payload = JSON.stringify(presetOf('stripe')?.sample.body);

const CREATED = 1_768_383_012;

/** Events as `stripe trigger` makes them, shortened. */
const TRIGGERED: Record<string, object> = {
  'payment_intent.succeeded': {
    id: 'pi_3SpQ',
    object: 'payment_intent',
    amount: 4900,
    currency: 'eur',
    status: 'succeeded',
  },
  'checkout.session.completed': {
    id: 'cs_test_a1',
    object: 'checkout.session',
    mode: 'payment',
    payment_status: 'paid',
  },
  'invoice.paid': { id: 'in_1SpQ', object: 'invoice', amount_paid: 4900, currency: 'eur', status: 'paid' },
  'customer.subscription.updated': {
    id: 'sub_1SpQ',
    object: 'subscription',
    status: 'active',
    cancel_at_period_end: true,
  },
  'charge.refunded': { id: 'ch_3SpQ', object: 'charge', amount_refunded: 4900, refunded: true },
};

describe('Webhooks of Stripe', () => {
  let service: Service;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  itVerifies(
    {
      id: 'stripe',
      secrets: ['whsec_current', 'whsec_next'],
      hasAge: true,
      sign: (secret, _, nowMs) => ({
        headers: {
          'content-type': 'application/json',
          'stripe-signature': stripe.webhooks.generateTestHeaderString({
            payload,
            secret,
            timestamp: Math.floor(nowMs / 1_000),
          }),
        },
        body: payload,
      }),
    },
    () => service,
  );

  it('each event of "stripe trigger" is verified, named by its type, timed by Stripe, and counted once', async () => {
    const secret = 'whsec_triggered';
    const created = await service.post('/v1/webhooks', { name: 'Stripe', provider: 'stripe', secrets: [secret] });
    for (const [type, object] of Object.entries(TRIGGERED)) {
      const body = JSON.stringify(
        {
          id: `evt_${type}`,
          object: 'event',
          api_version: '2025-09-30.clover',
          created: CREATED,
          type,
          data: { object },
        },
        null,
        2,
      );
      const deliver = () =>
        send(created.body.data.url, {
          headers: {
            'content-type': 'application/json; charset=utf-8',
            'stripe-signature': stripe.webhooks.generateTestHeaderString({ payload: body, secret }),
          },
          body,
        });
      const first = await deliver();
      expect(first.status, JSON.stringify(first.body)).to.equal(200);
      expect((await deliver()).body.ids).to.deep.equal(first.body.ids);
      const event = await until(async () => (await service.get(`/v1/events/${first.body.ids[0]}`)).body.data, {
        describe: `${type} is stored`,
      });
      expect(event.name).to.equal(`stripe/${type}`);
      expect(event.verified).to.equal(true);
      expect(event.ts).to.equal(CREATED * 1_000);
      expect(event.data.object).to.deep.equal(object);
    }
  });
});
