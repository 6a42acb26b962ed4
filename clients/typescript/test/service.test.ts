/** Functions and the client with a real service. */
import { expect } from 'chai';
import { type ErrorDetails, NonRetriableError, type StepError, Tidegate } from 'tidegate';
import { serve } from 'tidegate/node';
import { type RealtimeMessage, subscribe } from 'tidegate/realtime';
import { type App, startApp } from '../../../test/runs/steps/sdk-adapters.ts';
import { type Service, startService } from '../../../test/support/service.ts';
import { rejection, useServers } from './servers.ts';
import type { AnyContext } from './steps/app.ts';

describe('With a real service, the TypeScript client', () => {
  let service: Service;
  let client: Tidegate;
  let app: App | undefined;
  let count = 0;
  const { startService: startFake } = useServers();
  before(async () => {
    service = await startService();
    client = new Tidegate({ id: 'shop', isDev: true, baseUrl: service.url });
  });
  afterEach(async () => app?.close());
  after(async () => service?.stop());

  /** Registers the function, starts a run and returns the ID of its event. */
  async function start(handler: (context: AnyContext) => unknown): Promise<string> {
    const name = `client/${++count}`;
    const fn = client.createFunction({ id: `fn-${count}`, triggers: { event: name }, retries: 0 }, handler);
    app = await startApp(serve({ client, functions: [fn] }));
    const { ids } = await client.send({ name, data: {} });
    return ids[0] as string;
  }

  async function ended(eventId: string) {
    const path = `/v1/events/${eventId}/runs`;
    return (await service.waitFor(path, ({ body }) => Boolean(body.data?.[0]?.ended_at))).body.data[0];
  }

  async function waiting(eventId: string): Promise<string> {
    const { body } = await service.waitFor(`/v1/events/${eventId}/runs`, ({ body }) => body.data?.length === 1);
    const [{ run_id }] = body.data;
    await service.waitFor(`/v1/runs/${run_id}`, ({ body }) =>
      body.data.history.some(({ status }: { status: string }) => status === 'Waiting'),
    );
    return run_id;
  }

  it('waits for a signal that it also sends', async () => {
    const event = await start(async ({ step }) => {
      const signal = await step.waitForSignal<{ by: string }>('wait', { signal: 'approval/1', timeout: '1h' });
      const unheard = await step.sendSignal('tell', { signal: 'nobody/waits' });
      return { signal, unheard };
    });
    const runId = await waiting(event);
    expect(await client.sendSignal('approval/1', { by: 'ada' })).to.equal(runId);
    expect(await client.sendSignal('approval/1')).to.equal(null);
    const { output } = await ended(event);
    expect(output).to.deep.equal({ signal: { signal: 'approval/1', data: { by: 'ada' } }, unheard: null });
    const error = await rejection(client.sendSignal(''));
    expect([error.name, error.status]).to.deep.equal(['SendError', 400]);
  });

  it('lets the service make requests and call AI models', async () => {
    const other = await startFake({ status: 404, body: 'no such thing' }, { body: { choices: ['Hi'] } });
    const event = await start(async ({ step }) => {
      const { status, body } = await step.fetch('get', `${other.url}/things`, { method: 'PUT', body: { a: 1 } });
      const answer = await step.infer('ask', {
        url: `${other.url}/v1/messages`,
        format: 'anthropic',
        authKey: 'key-1',
        body: { model: 'm' },
      });
      return { status, body, answer };
    });
    const { output } = await ended(event);
    expect(output).to.deep.equal({ status: 404, body: 'no such thing', answer: { choices: ['Hi'] } });
    expect(other.requests.map(({ method, url, body }) => [method, url, JSON.parse(body)])).to.deep.equal([
      ['PUT', '/things', { a: 1 }],
      ['POST', '/v1/messages', { model: 'm' }],
    ]);
    expect(other.requests[1]?.headers['x-api-key']).to.equal('key-1');
  });

  it('keeps cause, data and code of the errors of steps and runs', async () => {
    const details: ErrorDetails = { cause: new RangeError('no money'), data: { card: 7 }, code: 'E_CARD' };
    let caught: StepError | undefined;
    const event = await start(async ({ step }) => {
      const pay = () => {
        throw new NonRetriableError('refused', details);
      };
      await step.run('pay', pay).catch((error: StepError) => {
        caught = error;
        throw error;
      });
    });
    const { status, error } = await ended(event);
    const { data, code, cause } = caught as StepError & { cause: Error };
    expect([data, code, (cause.cause as Error).name]).to.deep.equal([{ card: 7 }, 'E_CARD', 'RangeError']);
    expect([status, error.message, error.data, error.code]).to.deep.equal(['Failed', 'refused', { card: 7 }, 'E_CARD']);
    expect(error.cause).to.include({ name: 'RangeError', message: 'no money' });
  });

  it('continues when a race is won, and runs further steps while the loser is pending', async () => {
    const event = await start(async ({ step }) => {
      const first = await step.race([
        async () => {
          const half = await step.run('half', () => 21);
          return step.run('whole', () => half * 2);
        },
        () => step.waitForSignal('never', { signal: 'never', timeout: '1d' }),
      ]);
      return step.run('after', () => ({ first }));
    });
    const { status, output } = await ended(event);
    expect([status, output]).to.deep.equal(['Completed', { first: 42 }]);
  });

  it('publishes messages to subscribers with a token', async () => {
    const token = await client.subscriptionToken({ channel: 'thread:7', topics: ['status'] });
    const stop = new AbortController();
    const messages = await subscribe({ ...token, signal: stop.signal });
    await client.publish({ channel: 'thread:7', topic: 'other', data: 0 });
    await client.publish({ channel: 'thread:7', topic: 'status', data: 'from the client' });
    const event = await start(async ({ step }) => {
      await step.publish('tell', { channel: 'thread:7', topic: 'status', data: { found: 3 } });
    });
    const { run_id } = await ended(event);
    const next = async () => (await messages.next()).value as RealtimeMessage;
    const place = { kind: 'data', channel: 'thread:7', topic: 'status' };
    expect(await next()).to.deep.equal({ ...place, data: 'from the client' });
    expect(await next()).to.deep.equal({ ...place, data: { found: 3 }, runId: run_id });
    stop.abort();
    expect((await messages.next()).done).to.equal(true);

    const error = await rejection(subscribe({ ...token, token: 'forged' }));
    expect(error.message).to.match(/refused the subscription: it answered 401/);
    const refused = await rejection(client.publish({ channel: '', topic: 'status', data: 0 }));
    expect([refused.name, refused.status]).to.deep.equal(['SendError', 400]);
  });
});
