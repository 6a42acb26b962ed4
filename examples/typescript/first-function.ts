import { createServer } from 'node:http';
import { Tidegate } from 'tidegate';
import { serve } from 'tidegate/node';

const client = new Tidegate({ id: 'shop' });

const sendReceipt = client.createFunction(
  { id: 'send-receipt', triggers: { event: 'order/paid', if: 'event.data.total > 10' } },
  async ({ event, step }) => {
    const receipt = await step.run('write receipt', () => `Receipt for order ${event.data.orderId}`);
    await step.sleep('let it dry', '1s');
    return { sent: receipt };
  },
);

createServer(serve({ client, functions: [sendReceipt], path: '/api/service' })).listen(3000, '127.0.0.1');
