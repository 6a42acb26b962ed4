import { Tidegate } from 'tidegate';
import { connect } from 'tidegate/connect';

const client = new Tidegate({ id: 'shop' });

const sendReceipt = client.createFunction(
  { id: 'send-receipt', triggers: { event: 'order/paid' } },
  async ({ event, step }) => {
    return step.run('write receipt', () => `Receipt for order ${event.data.orderId}`);
  },
);

const connection = await connect({ client, functions: [sendReceipt] });
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => connection.close()); // finishes its calls
