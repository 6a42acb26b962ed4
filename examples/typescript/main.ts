/** A small shop whose functions run on events: `SERVICE_DEV=http://127.0.0.1:8288 node examples/typescript/main.ts` */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { serve } from 'tidegate/node';
import { client } from './client.ts';
import { functions } from './functions.ts';

const PATH = '/api/service';
const stopping = new AbortController();
const server = createServer(serve({ client, functions, path: PATH }));

server.listen(Number(process.env.PORT ?? 3939), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}${PATH}`;
  console.log(`example-shop serves ${functions.length} functions at ${url}`);
  registerWhenReady(url).catch((error) => {
    if (!stopping.signal.aborted) throw error;
  });
});

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    stopping.abort();
    server.close();
  });
}

/** Asks the app, by its own URL, to register: again and again until the service has answered. Says why it waits, once. */
async function registerWhenReady(url: string): Promise<void> {
  let said: string | undefined;
  while (!stopping.signal.aborted) {
    const answer = await fetch(url, { method: 'PUT', signal: stopping.signal });
    const { message } = (await answer.json()) as { message: string };
    if (message !== said) console.log(message);
    if (answer.ok) return;
    said = message;
    await wait(500, undefined, { signal: stopping.signal });
  }
}
