/** An app whose function has three steps: one process of it runs them, and another one is the candidate of a what-if. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Tidegate } from 'tidegate';
import { serve } from 'tidegate/node';

const client = new Tidegate({ id: 'what-if' });
const chain = client.createFunction({ id: 'chain', triggers: { event: 'bench/chain' } }, async ({ step }) => {
  for (const name of ['reserve', 'charge', 'ship']) await step.run(name, () => name);
  return 'shipped';
});
const server = createServer();
await once(server.listen(0, '127.0.0.1'), 'listening');
const { port } = server.address() as AddressInfo;
server.on('request', serve({ client, functions: [chain], serveOrigin: `http://127.0.0.1:${port}` }) as RequestListener);
process.send?.({ ready: true, port });
process.once('disconnect', () => process.exit());
