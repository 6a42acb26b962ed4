import { RetryAfterError } from 'tidegate';
import { client } from './client.ts';

function log(functionId: string, line: string): void {
  console.log(`${functionId.padEnd(18)}${line}`);
}

const sendReceipt = client.createFunction(
  { id: 'send-receipt', name: 'Send receipt', triggers: { event: 'order/paid' } },
  ({ event }) => {
    const { orderId, customer, total } = event.data;
    log('send-receipt', `order ${orderId}: receipt for ${total} sent to ${customer}`);
    return { sentTo: customer };
  },
);

const rewardBigOrder = client.createFunction(
  {
    id: 'reward-big-order',
    name: 'Reward big order',
    triggers: { event: 'order/paid', if: 'event.data.total > 100' },
  },
  ({ event }) => {
    const points = Math.floor(event.data.total / 10);
    log('reward-big-order', `order ${event.data.orderId}: ${points} points for ${event.data.customer}`);
    return { points };
  },
);

const flakyStockSync = client.createFunction(
  { id: 'flaky-stock-sync', name: 'Sync stock with the warehouse', triggers: { event: 'stock/changed' } },
  ({ event, attempt }) => {
    const { sku, quantity } = event.data;
    if (attempt === 0) {
      log('flaky-stock-sync', `${sku}: the warehouse is busy, once more in a second`);
      throw new RetryAfterError('The warehouse is busy', 1_000);
    }
    log('flaky-stock-sync', `${sku}: ${quantity} in stock, on try ${attempt + 1}`);
    return { sku, quantity };
  },
);

const onPush = client.createFunction(
  { id: 'on-push', name: 'Log pushes', triggers: { event: 'github/push' } },
  ({ event }) => {
    const { repository, commits } = event.data;
    const titles = commits.map(({ id, message }) => `${id.slice(0, 7)} ${message.split('\n', 1)[0]}`);
    log('on-push', `${repository.full_name}: ${titles.join('; ') || 'no commits'}`);
    return { commits: commits.length };
  },
);

const audit = client.createFunction(
  { id: 'audit', name: 'Audit orders', triggers: { event: 'order/*' } },
  ({ event, runId }) => {
    log('audit', `${event.name} ${event.id} in run ${runId}`);
  },
);

/** Lives as long as the order does: what it waits for may come in a second or in three days, and deploys do not matter. */
const fulfilOrder = client.createFunction(
  {
    id: 'fulfil-order',
    name: 'Fulfil order',
    triggers: { event: 'order/placed' },
    onFailure: ({ error, event }) =>
      log('fulfil-order', `order ${event.data.event.data.orderId} needs help: ${error.message}`),
  },
  async ({ event, step }) => {
    const { orderId, customer, lines } = event.data;
    const paid = await step.waitForEvent('payment', {
      event: 'order/paid',
      timeout: '3d',
      if: 'event.data.orderId == async.data.orderId',
    });
    if (!paid) return { orderId, status: 'never paid' };
    const [parcel] = await Promise.all([
      step.run('pack', () => {
        log('fulfil-order', `order ${orderId}: packed`);
        return { number: `P-${orderId}`, pieces: lines.reduce((sum, { quantity }) => sum + quantity, 0) };
      }),
      step.run('book courier', () => log('fulfil-order', `order ${orderId}: courier booked`)),
    ]);
    const sold = lines.map(({ sku, quantity }) => ({
      name: 'stock/changed' as const,
      data: { sku, quantity: -quantity },
    }));
    await step.sendEvent('tell the warehouse', sold);
    await step.sleep('on its way', '2s');
    await step.run('ask for a review', () => log('fulfil-order', `${customer}: how was parcel ${parcel.number}?`));
    return { orderId, status: 'delivered', parcel };
  },
);

export const functions = [sendReceipt, rewardBigOrder, flakyStockSync, onPush, audit, fulfilOrder];
