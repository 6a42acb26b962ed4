import { createRequire } from 'node:module';
import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

interface Example {
  name: string;
  examples: Record<string, unknown>[];
}
const examples = createRequire(import.meta.url)('@octokit/webhooks-examples') as Example[];

const TRANSFORM = `function transform(evt, headers, queryParams, raw) {
  return {
    id: "github-" + headers["X-Github-Delivery"],
    name: "github/" + headers["X-Github-Event"],
    data: { payload: evt, size: raw.length },
  };
}`;

describe('GitHub webhooks', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService();
    host = await startAppHost();
    await host.register(service, [{ id: 'on-github', triggers: [{ event: 'github/*' }] }]);
  });
  after(async () => {
    await service.stop();
    await host.close();
  });

  it('each recorded GitHub webhook becomes one stored event and one run with its payload intact', async () => {
    const deliveries = examples.flatMap(({ name, examples }) => examples.map((payload) => ({ name, payload })));
    expect(deliveries.length).to.be.greaterThan(200);
    const { body } = await service.post('/v1/webhooks', { name: 'GitHub', transform: TRANSFORM });
    const ids = await Promise.all(
      deliveries.map(async ({ name, payload }, n) => {
        const headers = { 'content-type': 'application/json', 'x-github-event': name, 'x-github-delivery': String(n) };
        const response = await fetch(body.data.url, { method: 'POST', headers, body: JSON.stringify(payload) });
        expect(response.status, name).to.equal(200);
        return ((await response.json()) as { ids: string[] }).ids[0] as string;
      }),
    );
    expect(new Set(ids).size).to.equal(deliveries.length);

    await until(() => host.calls('on-github').length === deliveries.length, { describe: 'every delivery has a run' });
    for (const [n, { name, payload }] of deliveries.entries()) {
      const event = await until(async () => (await service.get(`/v1/events/${ids[n]}`)).body.data, {
        describe: 'the event is stored',
      });
      expect(event.name).to.equal(`github/${name}`);
      expect(event.data.payload).to.deep.equal(payload);
      const runs = await until(
        async () => {
          const found = (await service.get(`/v1/events/${ids[n]}/runs`)).body.data as { status: string }[];
          return found.length > 0 && found.every(({ status }) => status === 'Completed') ? found : undefined;
        },
        { describe: 'its run is done' },
      );
      expect(runs.length).to.equal(1);
    }
    expect(host.calls('on-github').length).to.equal(deliveries.length);
  });
});
