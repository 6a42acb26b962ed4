import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { serve } from 'tidegate/node';
import { testFunction } from 'tidegate/test';
import { client, verifyCard } from '../../../examples/typescript/middleware.ts';
import { type App, startApp } from '../../../test/runs/steps/sdk-adapters.ts';
import { type Service, startService } from '../../../test/support/service.ts';
import { useCleanEnv } from './servers.ts';

const data = { orderId: '7', encrypted: { number: '4242424242424242' } };

describe('The example of middleware', () => {
  useCleanEnv();
  let service: Service;
  let app: App | undefined;
  before(async () => {
    service = await startService();
  });
  after(async () => {
    await app?.close();
    await service.stop();
  });

  it('is linked from the README', () => {
    const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
    expect(readme).to.include('/blob/main/examples/typescript/middleware.ts)');
  });

  it('runs without a service', async () => {
    const { result } = await testFunction(verifyCard, { event: { data } });
    expect(result).to.deep.equal({ customer: 'customer of 7', lastDigits: '4242' });
  });

  it('stores no part of the card in a real service', async () => {
    process.env.SERVICE_DEV = service.url;
    app = await startApp(serve({ client, functions: [verifyCard] }));
    const { ids } = await client.send({ name: 'card/added', data });
    const path = `/v1/events/${ids[0]}/runs`;
    const { body } = await service.waitFor(path, (response) => Boolean(response.body.data?.[0]?.ended_at));
    const [run] = body.data;
    expect(run.status).to.equal('Completed');
    expect(run.output).to.have.all.keys('$encrypted', 'key', 'data');
    const event = (await service.get(`/v1/events/${ids[0]}`)).body.data;
    expect(event.data.orderId).to.equal('7');
    expect(event.data.encrypted).to.have.all.keys('$encrypted', 'key', 'data');
    const stored = JSON.stringify([run, event, (await service.get(`/v1/runs/${run.run_id}`)).body]);
    // Four digits alone occur in times and IDs.
    expect(stored).not.to.match(/42424242|customer of/);
  });
});
