import { createServer } from 'node:http';
import { Tidegate } from 'tidegate';
import { serve } from 'tidegate/node';

const client = new Tidegate({ id: 'shop' });
const customer = 'event.data.customer';

/** Two steps at a time. */
const resizeImage = client.createFunction(
  { id: 'resize-image', triggers: { event: 'image/uploaded' }, concurrency: 2 },
  ({ event, step }) => step.run('resize', async () => (await fetch(event.data.url)).status),
);

/** One step per customer, and ten steps of all functions that use the CRM. */
const syncCustomer = client.createFunction(
  {
    id: 'sync-customer',
    triggers: { event: 'customer/changed' },
    concurrency: [
      { limit: 1, key: customer },
      { limit: 10, key: '"crm"', scope: 'account' },
    ],
  },
  ({ step }) => step.run('sync', () => 'synced'),
);

/** One run per customer from start to end, and five steps of all customers. */
const importOrders = client.createFunction(
  {
    id: 'import-orders',
    triggers: { event: 'orders/exported' },
    concurrency: { fn: { limit: 1, key: customer }, step: { limit: 5 } },
  },
  ({ step }) => step.run('import', () => 'imported'),
);

/** 60 starts a minute per customer, and five more at once. More runs wait. */
const callPartner = client.createFunction(
  {
    id: 'call-partner',
    triggers: { event: 'parcel/packed' },
    throttle: { limit: 60, period: '1m', burst: 5, key: customer },
  },
  () => 'called',
);

/** One mail an hour per customer. More events start no run. */
const warnCustomer = client.createFunction(
  { id: 'warn-customer', triggers: { event: 'stock/low' }, rateLimit: { limit: 1, period: '1h', key: customer } },
  ({ event }) => ({ warned: event.data.customer }),
);

/** Once a product has not changed for 2 s, or has changed for 10 s: its latest change. */
const indexProduct = client.createFunction(
  {
    id: 'index-product',
    triggers: { event: 'product/changed' },
    debounce: { period: '2s', timeout: '10s', key: 'event.data.sku' },
  },
  ({ event }) => ({ price: event.data.price }),
);

/** Three clicks of a page in one run, or as many as come in 5 s. A purchase is stored alone. */
const storeClicks = client.createFunction(
  {
    id: 'store-clicks',
    triggers: { event: 'page/clicked' },
    batchEvents: { maxSize: 3, timeout: '5s', key: 'event.data.page', if: 'event.data.button != "buy"' },
  },
  ({ events }) => ({ stored: events.map(({ data }) => data.button) }),
);

/** One report per customer at a time. More events start no run. */
const buildReport = client.createFunction(
  { id: 'build-report', triggers: { event: 'report/asked' }, singleton: { mode: 'skip', key: customer } },
  ({ event, step }) => step.run('build', async () => (await fetch(event.data.url)).status),
);

/** Customers who pay go before all questions of the last two minutes. */
const answerQuestion = client.createFunction(
  {
    id: 'answer-question',
    triggers: { event: 'question/asked' },
    priority: { run: 'event.data.plan == "pro" ? 120 : 0' },
  },
  () => 'answered',
);

/** Once per order in 24 hours, however many events tell of it. */
const chargeOrder = client.createFunction(
  { id: 'charge-order', triggers: { event: 'order/confirmed' }, idempotency: 'event.data.orderId' },
  ({ event }) => ({ charged: event.data.orderId }),
);

/** Cancelled if it does not start in ten minutes, or does not end in an hour. */
const reserveStock = client.createFunction(
  { id: 'reserve-stock', triggers: { event: 'order/placed' }, timeouts: { start: '10m', finish: '1h' } },
  () => 'reserved',
);

/** Cancelled by the payment. */
const remindCustomer = client.createFunction(
  {
    id: 'remind-customer',
    triggers: { event: 'order/placed' },
    cancelOn: [{ event: 'order/paid', if: 'event.data.orderId == async.data.orderId', timeout: '7d' }],
  },
  async ({ step }) => {
    await step.sleep('wait for the payment', '3d');
    return 'reminded';
  },
);

/** On weekdays at nine in Berlin, or up to five minutes later. */
const mailReport = client.createFunction(
  { id: 'mail-report', triggers: { cron: 'TZ=Europe/Berlin 0 9 * * mon-fri', jitter: '5m' } },
  () => 'mailed',
);

const functions = [
  ...[resizeImage, syncCustomer, importOrders, callPartner, warnCustomer, indexProduct, storeClicks],
  ...[buildReport, answerQuestion, chargeOrder, reserveStock, remindCustomer, mailReport],
];
createServer(serve({ client, functions, path: '/api/service' })).listen(3000, '127.0.0.1');
