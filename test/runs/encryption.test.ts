import { expect } from 'chai';
import { encryption, NonRetriableError, Tidegate } from 'tidegate';
import { serve } from 'tidegate/node';
import { hashStepId } from '../../clients/typescript/src/steps/ids.ts';
import { type Service, startService } from '../support/service.ts';
import { type App, type Loose, startApp } from './steps/sdk-adapters.ts';

const KEY = 'a key of the tests with 32 characters or more';
const CARD = '4242 4242';

describe('Strict encryption of an app through the service', () => {
  let service: Service;
  let client: Tidegate;
  let app: App;
  const failures: unknown[] = [];
  /** How often the step "fragile" still fails. */
  let broken = 0;

  before(async () => {
    service = await startService({ env: { RETRY_SCALE: '0.0005' } });
    const options = { id: 'vault', isDev: true, baseUrl: service.url };
    client = new Tidegate({ ...options, middleware: [encryption({ key: KEY, strict: true })] });
    const double = client.createFunction({ id: 'double', triggers: [] }, ({ event, step }: Loose) =>
      step.run('twice', () => `${event.data.encrypted} twice`),
    );
    const pay = client.createFunction({ id: 'pay', triggers: { event: 'vault/pay' } }, async ({ event, step }) => {
      const [card, nothing] = await Promise.all([
        step.run('card', () => event.data.encrypted),
        step.run('nothing', () => {}),
      ]);
      const [doubled, confirmed] = await Promise.all([
        step.invoke('double', { function: double, data: { encrypted: card } }),
        step.waitForEvent('confirmed', { event: 'vault/confirmed', timeout: '1m' }),
        step.sendEvent('confirm', { name: 'vault/confirmed', data: { encrypted: `${card} confirmed` } }),
      ]);
      return [doubled, confirmed?.data.encrypted, nothing];
    });
    const fragile = client.createFunction(
      {
        id: 'fragile',
        triggers: { event: 'vault/fragile' },
        onFailure: ({ event }) => failures.push(event.data.event.data),
      },
      async ({ event, step }) => {
        const card = await step.run('card', () => event.data.encrypted);
        const doubled = await step.invoke('double', { function: double, data: { encrypted: card } });
        return step.run('fragile', () => {
          if (broken-- > 0) throw new NonRetriableError('broken');
          return doubled;
        });
      },
    );
    const held = client.createFunction({ id: 'held', triggers: { event: 'vault/held' } }, async ({ event, step }) => {
      const card = await step.run('card', () => event.data.encrypted);
      await step.waitForEvent('go', { event: 'vault/go', timeout: '1m' });
      return card;
    });
    const read = client.createFunction({ id: 'read', triggers: { event: 'vault/read' } }, ({ event, step }) =>
      step.run('read', () => event.data.encrypted ?? 'nothing'),
    );
    app = await startApp(serve({ client, functions: [double, pay, fragile, held, read] }));
  });
  after(async () => {
    await app?.close();
    await service?.stop();
  });

  async function runOf(eventId: string | undefined): Promise<string> {
    const runs = await service.waitFor(`/v1/events/${eventId}/runs`, ({ body }) => body.data?.length === 1);
    return runs.body.data[0].run_id;
  }
  async function ended(runId: string) {
    return (await service.waitFor(`/v1/runs/${runId}`, ({ body }) => body.data?.ended_at)).body.data;
  }
  const send = async (name: string, data: object) => runOf((await client.send({ name, data })).ids[0]);

  it('keeps steps, parallel steps, invocations, sends and waits readable only for the app', async () => {
    const { ids } = await client.send({ name: 'vault/pay', data: { encrypted: CARD } });
    const run = await ended(await runOf(ids[0]));
    expect(run.status, JSON.stringify(run.error)).to.equal('Completed');
    const { decode } = encryption({ key: KEY, strict: true });
    expect(await decode?.(run.output, 'output', [['output', 'vault-pay', run.run_id]])).to.deep.equal([
      `${CARD} twice`,
      `${CARD} confirmed`,
      null,
    ]);
    for (const path of [
      `/v1/events/${ids[0]}`,
      `/v1/runs/${run.run_id}`,
      `/v1/runs/${run.run_id}/steps/${hashStepId('card')}`,
    ]) {
      const stored = JSON.stringify((await service.get(path)).body);
      expect(stored).to.not.include('4242');
      if (!path.endsWith(run.run_id)) expect(stored).to.include('tidegate/aes-256-gcm');
    }
  });

  it('gives a re-run from a step the results of earlier runs, and a failure handler the failed event', async () => {
    broken = 2;
    const first = await ended(await send('vault/fragile', { encrypted: CARD }));
    expect([first.status, first.error.message]).to.deep.equal(['Failed', 'broken']);
    const rerun = async (runId: string) => {
      const from_step = { step_id: hashStepId('fragile') };
      const { body } = await service.post(`/v1/runs/${runId}/retry`, { from_step });
      return ended(body.data.run_id);
    };
    const second = await rerun(first.run_id);
    expect([second.status, second.error.message]).to.deep.equal(['Failed', 'broken']);
    const third = await rerun(second.run_id);
    expect(third.status, JSON.stringify(third.error)).to.equal('Completed');
    await service.waitFor(
      '/v1/runs?function_id=vault-fragile-failure&status=Completed',
      ({ body }) => body.data?.length === 2,
    );
    expect(failures).to.deep.equal([{ encrypted: CARD }, { encrypted: CARD }]);
  });

  it('fails runs whose stored results somebody has swapped, and says so', async () => {
    const [one, other] = [
      await send('vault/held', { encrypted: CARD }),
      await send('vault/held', { encrypted: '5555' }),
    ];
    const memosOf = (runId: string) => `${service.keys.of(runId).run('production', runId)}:memos`;
    const card = hashStepId('card');
    for (const runId of [one, other])
      await service.waitFor(`/v1/runs/${runId}`, ({ body }) => body.data?.state.kind === 'waiting_for_event');
    const [result, otherResult] = await Promise.all(
      [one, other].map((runId) => service.redis.hget(memosOf(runId), card)),
    );
    await service.redis.hset(memosOf(one), card, otherResult as string);
    await service.redis.hset(memosOf(other), card, result as string);
    await client.send({ name: 'vault/go', data: {} });
    for (const runId of [one, other]) {
      const { status, error } = await ended(runId);
      expect([status, error.name], JSON.stringify(error)).to.deep.equal(['Failed', 'NonRetriableError']);
      expect(error.message).to.include(`the result of step ${card} of vault-held in run ${runId}`).and.include('moved');
    }
  });

  it('fails runs with a field that was sent unencrypted, under another name, or in version 1', async () => {
    const { encode } = encryption({ key: KEY });
    const version1 = (await encode?.({ encrypted: CARD }, 'event')) as object;
    const moved = encryption({ key: KEY, strict: true }).encode?.({ encrypted: CARD }, 'event', ['event', 'vault/pay']);
    for (const [data, words] of [
      [{ encrypted: CARD }, 'The event "vault/read" is not encrypted, which strict encryption() refuses'],
      [version1, 'The event "vault/read" is encrypted in version 1'],
      [(await moved) as object, 'cannot be decrypted as the event "vault/read": it was moved here'],
    ] as const) {
      const { body } = await service.post('/e/key', { name: 'vault/read', data });
      const { status, error } = await ended(await runOf(body.ids[0]));
      expect(status).to.equal('Failed');
      expect(error.message).to.include(words);
    }
  });
});
