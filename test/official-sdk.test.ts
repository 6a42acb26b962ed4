import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { Inngest, NonRetriableError } from 'inngest';
import { serve } from 'inngest/node';
import { type Service, startService } from './support/service.ts';

describe('an app written with the official SDK of the protocol', () => {
  let service: Service;
  let client: Inngest;
  let close: () => Promise<void>;
  const attempts: number[] = [];
  const failures: unknown[] = [];

  before(async () => {
    service = await startService({ env: { RETRY_SCALE: '0.0005' } });
    client = new Inngest({ id: 'official', isDev: true, baseUrl: service.url, logger: silent });
    const functions = [
      client.createFunction({ id: 'receipt', triggers: [{ event: 'official/paid' }] }, async ({ event }) => ({
        got: event.data,
      })),
      client.createFunction(
        { id: 'flaky', retries: 3, triggers: [{ event: 'official/flaky' }] },
        async ({ attempt }) => {
          attempts.push(attempt);
          if (attempt < 2) throw new Error(`attempt ${attempt} fails`);
          return 'third time lucky';
        },
      ),
      client.createFunction(
        {
          id: 'hopeless',
          triggers: [{ event: 'official/hopeless' }],
          onFailure: async ({ error, event }) => {
            failures.push([error.message, event.data.event.data]);
          },
        },
        async () => {
          throw new NonRetriableError('hopeless indeed');
        },
      ),
    ];
    const server = createServer(serve({ client, functions }));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    close = async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    };
    const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api/inngest`, {
      method: 'PUT',
    });
    expect(answer.status, await answer.clone().text()).to.equal(200);
  });
  after(async () => {
    await close();
    await service.stop();
  });

  const runOf = async (eventId: string | undefined, status: string) => {
    const { body } = await service.waitFor(
      `/v1/events/${eventId}/runs`,
      ({ body }) => body.data?.[0]?.status === status,
    );
    return body.data[0];
  };

  it('registers, sends an event, and runs on it', async () => {
    const { ids } = await client.send({ name: 'official/paid', data: { total: 3 } });
    const run = await runOf(ids[0], 'Completed');
    expect(run).to.deep.include({ function_id: 'official-receipt', output: { got: { total: 3 } } });
  });

  it('sends several events at once', async () => {
    const { ids } = await client.send([
      { name: 'official/paid', data: { n: 1 } },
      { name: 'official/paid', data: { n: 2 } },
    ]);
    const runs = await Promise.all(ids.map((id) => runOf(id, 'Completed')));
    expect(runs.map(({ output }) => output)).to.deep.equal([{ got: { n: 1 } }, { got: { n: 2 } }]);
  });

  it('is called again when it throws', async () => {
    const { ids } = await client.send({ name: 'official/flaky', data: {} });
    const run = await runOf(ids[0], 'Completed');
    expect(run).to.deep.include({ output: 'third time lucky', attempt: 2 });
    expect(attempts).to.deep.equal([0, 1, 2]);
  });

  it('has its failure handler called when a run has failed for good', async () => {
    const { ids } = await client.send({ name: 'official/hopeless', data: { n: 1 } });
    const run = await runOf(ids[0], 'Failed');
    expect(run.error.message).to.include('hopeless indeed');
    await service.waitFor('/v1/events?name=inngest/function.failed', () => failures.length > 0);
    expect(failures).to.deep.equal([['hopeless indeed', { n: 1 }]]);
  });
});

const silent = { info() {}, warn() {}, error() {}, debug() {} };
