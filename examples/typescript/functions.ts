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

export const functions = [sendReceipt, rewardBigOrder, flakyStockSync, onPush, audit];
