/** A provider of an AI model, as `step.ai.infer` calls it. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export const COMPLETION = {
  id: 'completion-1',
  object: 'chat.completion',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'hello to you' } }],
};

/** Responds to requests that have the key `a-key` with COMPLETION, and to others with 401. */
export async function startProvider(): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((req, res) => {
    const known = req.headers.authorization === 'Bearer a-key' && req.url?.endsWith('/chat/completions');
    res.writeHead(known ? 200 : 401, { 'content-type': 'application/json' });
    res.end(JSON.stringify(known ? COMPLETION : { error: `${req.url} with ${req.headers.authorization}` }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
