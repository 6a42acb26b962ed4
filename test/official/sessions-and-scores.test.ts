import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { experiment, Inngest, realtime, staticSchema } from 'inngest';
import { createDefer, createScorer, metadataMiddleware, scoreMiddleware } from 'inngest/experimental';
import { serve } from 'inngest/node';
import { subscribe } from 'inngest/realtime';
import { request } from '../support/http.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { type Loose, Outside } from './outside.ts';

const APP = 'official-newest';
const silent = { info() {}, warn() {}, error() {}, debug() {} };
const chat = realtime.channel({
  name: (id: string) => `chat:${id}`,
  topics: { status: { schema: staticSchema<{ text: string }>() } },
});

describe('The newest official SDK of TypeScript', () => {
  let service: Service;
  let outside: Outside;
  let client: Loose;
  let close: () => Promise<void>;
  /** What deferred functions have seen. */
  const deferred: Loose[] = [];
  before(async () => {
    service = await startService();
    outside = new Outside(service, APP);
    client = new Inngest({
      id: APP,
      isDev: true,
      baseUrl: service.url,
      logger: silent,
      middleware: [metadataMiddleware(), scoreMiddleware()],
    });
    const server = createServer(serve({ client, functions: functionsOf(client, deferred) }));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/inngest`;
    expect((await request('PUT', url)).status).to.equal(200);
    close = async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    };
  });
  after(async () => {
    await close?.();
    await service?.stop();
  });

  async function runOf(name: string, data: object = {}): Promise<Loose> {
    const { run_id } = await outside.endedRun(await outside.send(name, data));
    return (await service.get(`/v1/runs/${run_id}`)).body.data;
  }
  const metadataOf = (run: Loose, kind: string) => run.metadata.find((entry: Loose) => entry.kind === kind);

  it('subscribes to what a function publishes, in a step or immediately', async () => {
    const stream = await subscribe({ app: client, channel: chat('7'), topics: ['status'] });
    const received: Loose[] = [];
    const reading = (async () => {
      for await (const message of stream as unknown as AsyncIterable<Loose>) received.push(message);
    })();
    const run = await runOf('publishes', { id: '7' });
    await until(() => received.length === 2, { describe: 'both messages' });
    stream.close();
    await reading;
    expect(received.map(({ topic, channel, data, runId }) => [topic, channel, data.text, runId])).to.deep.equal([
      ['status', 'chat:7', 'as a step', run.run_id],
      ['status', 'chat:7', 'at once', run.run_id],
    ]);
  });

  it('passes sessions on to events that a run sends and to deferred functions', async () => {
    await client.send({ name: `${APP}/sessions`, data: {}, meta: { sessions: { org: 'acme', team: 'core' } } });
    await until(() => deferred.length === 1, { describe: 'the deferred function ran' });
    expect(deferred[0].sessions).to.deep.equal({ org: 'override', team: 'core' });
    const path = `/v1/events?name=${encodeURIComponent(`${APP}/sent`)}`;
    const { body } = await service.waitFor(path, ({ body }) => body.data?.length > 0);
    expect(body.data[0].meta).to.deep.equal({ sessions: { org: 'acme', team: 'core' } });
  });

  it('stores metadata and scores of steps, and the variants of experiments', async () => {
    const run = await runOf('says');
    expect(metadataOf(run, 'userland.default')).to.deep.include({ scope: 'run', values: { model: 'm' } });
    expect(metadataOf(run, 'inngest.score')?.values).to.deep.equal({ quality: { value: 0.5 } });
    expect(metadataOf(run, 'inngest.experiment').values).to.deep.include({ name: 'flow', variant: 'a' });
    expect(run.output).to.equal('a');
  });

  it('scores a run after its end by a deferred function', async () => {
    const { run_id } = await runOf('scored');
    const { body } = await service.waitFor(`/v1/runs/${run_id}/metadata`, ({ body }) => body.data?.length > 0);
    expect(body.data[0]).to.deep.include({ kind: 'inngest.score', scope: 'run', values: { verbosity: { value: 2 } } });
  });
});

function functionsOf(client: Loose, deferred: Loose[]): Loose[] {
  const on = (id: string, handler: (args: Loose) => Promise<unknown>) =>
    client.createFunction({ id, retries: 0, triggers: [{ event: `${APP}/${id}` }] }, handler);
  const remember = createDefer(client, { id: 'remember' }, async (ctx: Loose) => void deferred.push(ctx));
  const scorer = createScorer(client, { id: 'scorer' }, async ({ event }: Loose) => ({
    name: 'verbosity',
    value: event.data.message.split(' ').length,
  }));
  return [
    remember,
    scorer,
    on('publishes', async ({ event, step }) => {
      const { status } = chat(event.data.id);
      await step.realtime.publish('tell', status, { text: 'as a step' });
      await step.run('publish', () => client.realtime.publish(status, { text: 'at once' }));
    }),
    on('sessions', async ({ step, defer }) => {
      defer('later', { function: remember, data: {}, meta: { sessions: { org: 'override' } } });
      await step.sendEvent('send', { name: `${APP}/sent`, data: {} });
    }),
    on('says', async ({ step, group }) => {
      await step.metadata('say').set({ model: 'm' });
      await step.score('rate', { name: 'quality', value: 0.5 });
      const variants = { a: () => step.run('a', () => 'a'), b: () => step.run('b', () => 'b') };
      return (await group.experiment('flow', { variants, select: experiment.fixed('a') })).result;
    }),
    on('scored', async ({ step, defer }) => {
      await step.run('a', async () => defer('score', { function: scorer, data: { message: 'hello world' } }));
    }),
  ];
}
