import { expect } from 'chai';
import { Tidegate } from 'tidegate';
import { serve } from 'tidegate/node';
import { type App, type Loose, startApp } from '../runs/steps/sdk-adapters.ts';
import { startGoHost } from '../support/go.ts';
import { request } from '../support/http.ts';
import type { HostProgram } from '../support/program.ts';
import { startPythonHost } from '../support/python.ts';
import { type Service, startService } from '../support/service.ts';

describe('Apps in three languages', function () {
  // The first run installs and compiles.
  this.timeout(600_000);
  let service: Service;
  let typescript: App;
  const hosts: HostProgram[] = [];

  before(async () => {
    service = await startService();
    typescript = await startApp(asks(service));
    const env = { SERVICE_DEV: service.url };
    hosts.push(await startPythonHost('together.py', env));
    hosts.push(await startGoHost('together', '.', env));
  });
  after(async () => {
    await typescript?.close();
    for (const host of hosts) await host.stop();
    await service?.stop();
  });
  afterEach(function () {
    const error = this.currentTest?.state === 'failed' ? this.currentTest.err : undefined;
    if (error) error.stack += `\n\nOutput of the apps:\n${hosts.map((host) => host.output()).join('\n')}`;
  });

  it('register with one service, invoke each other, and wait for events of each other', async () => {
    for (const { url } of hosts) {
      const { status, body } = await request('PUT', url);
      expect([status, body]).to.deep.equal([200, { message: 'Registered', modified: true }]);
    }
    const send = async (name: string): Promise<string> =>
      (await service.post('/e/key', { name, data: { n: 21 } })).body.ids[0];
    const runOf = async (eventId: string, wished: (run: Loose) => boolean) => {
      const path = `/v1/events/${eventId}/runs`;
      return (await service.waitFor(path, ({ body }) => body.data?.[0] && wished(body.data[0]))).body.data[0];
    };

    const listened = await send('together/listen');
    const { run_id } = await runOf(listened, () => true);
    await service.waitFor(`/v1/runs/${run_id}`, ({ body }) =>
      body.data.history.some(({ op, status }: Loose) => op === 'WaitForEvent' && status === 'Waiting'),
    );
    const asked = await send('together/asked');

    const outcomeOf = async (eventId: string) => {
      const { function_id, status, output, error } = await runOf(eventId, ({ ended_at }) => ended_at);
      return [function_id, status, output ?? error];
    };
    expect(await outcomeOf(asked)).to.deep.equal(['together-ts-asks', 'Completed', { answer: { doubled: 42 } }]);
    expect(await outcomeOf(listened)).to.deep.equal(['together-go-hears', 'Completed', { heard: 42 }]);
    const [run] = (await service.get('/v1/runs?function_id=together-py-tells&fields=output')).body.data;
    expect([run.status, run.output]).to.deep.equal(['Completed', { doubled: 42 }]);
  });
});

/** together-ts-asks, on the event together/asked {n}, invokes the Python function with its data. */
function asks({ url }: Service) {
  const client = new Tidegate({ id: 'together-ts', isDev: true, baseUrl: url });
  const fn = client.createFunction({ id: 'asks', triggers: { event: 'together/asked' } }, async ({ event, step }) => ({
    answer: await step.invoke('ask', { function: 'together-py-tells', data: event.data as Loose }),
  }));
  return serve({ client, functions: [fn] });
}
