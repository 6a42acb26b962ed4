/** An app of the official TypeScript SDK, as it ran at Inngest: it takes address and keys from the SDK's variables, prints `{"url": …}` when it listens,
 *  and ends when its stdin does. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Inngest } from 'inngest';
import { serve } from 'inngest/node';

const client = new Inngest({ id: 'shop' });

const sendReceipt = client.createFunction(
  { id: 'send-receipt', triggers: { event: 'order/paid' } },
  async ({ event, step }) => {
    const receipt = await step.run('write receipt', () => `Receipt for order ${event.data.orderId}`);
    await step.sendEvent('tell', { name: 'receipt/sent', data: { receipt } });
    return { sent: receipt };
  },
);

const server = createServer(serve({ client, functions: [sendReceipt] }));
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}/api/inngest` })}\n`);
});
process.stdin.resume().once('end', () => process.exit(0));
