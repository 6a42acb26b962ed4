import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { serve } from 'tidegate/node';
import { startApp } from '../runs/steps/sdk-adapters.ts';
import { request } from '../support/http.ts';
import { startService } from '../support/service.ts';
import { blocksOf, pageOf } from './examples.ts';

/** Beside the tests, so that what it imports is found. */
const MODULE = join(import.meta.dirname, '.webhook-issue-function.ts');

describe('The example of issues in docs/webhooks.md', () => {
  after(() => rmSync(MODULE, { force: true }));

  it('notifies people about a failing webhook', async () => {
    const posted = Promise.withResolvers<string>();
    const chat = createServer(async (req, res) => {
      posted.resolve(await text(req));
      res.end();
    });
    await new Promise<void>((resolve) => chat.listen(0, '127.0.0.1', resolve));
    process.env.CHAT_URL = `http://127.0.0.1:${(chat.address() as AddressInfo).port}`;
    const service = await startService();
    const { code = '' } = blocksOf(pageOf('webhooks.md')).find(({ info }) => info === 'ts issue-function') ?? {};
    const options = `id: 'operations', isDev: true, baseUrl: '${service.url}'`;
    writeFileSync(MODULE, code.replace("id: 'operations'", options));
    const { client, tellPeople } = await import(MODULE);
    const app = await startApp(serve({ client, functions: [tellPeople] }));
    try {
      const transform = "const transform = () => { throw new Error('out of paper'); };";
      const { body } = await service.post('/v1/webhooks', { name: 'Printer', transform });
      await request('POST', body.data.url, { body: '{}' });
      const { text: told } = JSON.parse(await posted.promise);
      expect(told).to.match(/^Printer, transform: .*out of paper/);
    } finally {
      await app.close();
      await service.stop();
      chat.closeAllConnections();
      chat.close();
    }
  });
});
