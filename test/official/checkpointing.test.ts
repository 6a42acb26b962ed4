/** Checkpoints of calls with the official TypeScript SDK, whose functions use them by default. */
import { expect } from 'chai';
import { Inngest } from 'inngest';
import { serve } from 'inngest/node';
import { startApp } from '../runs/steps/sdk-adapters.ts';
import { type Service, startService } from '../support/service.ts';
import { type Loose, Outside } from './outside.ts';

const silent = { info() {}, warn() {}, error() {}, debug() {} };
const APP = 'checkpointing';
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

interface Options {
  checkpointing?: boolean | { bufferedSteps?: number; maxInterval?: number; maxRuntime?: number };
  retries?: 0 | 1;
}

for (const mode of ['dev mode', 'production'] as const) {
  describe(`In ${mode}, a checkpointed function of the official TypeScript SDK`, () => {
    let service: Service;
    let outside: Outside;
    let app: { url: string; close(): Promise<void> };
    /** Requests of the SDK to the service, by path. */
    const requests: string[] = [];
    const entries = new Map<string, number>();
    const effects = new Map<string, number>();
    const count = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);

    before(async () => {
      service = await startService({ env: { RETRY_SCALE: '0.0005' }, dev: mode === 'dev mode' });
      outside = new Outside(service, APP);
      const { EVENT_KEYS: eventKey = '', SIGNING_KEY: signingKey = '' } = service.env;
      const client = new Inngest({
        id: APP,
        baseUrl: service.url,
        isDev: service.dev,
        logger: silent,
        fetch: (url: Loose, init: Loose) => {
          requests.push(new URL(url).pathname.replace(/[0-7][0-9A-Z]{25}/, ':id'));
          return fetch(url, init);
        },
        ...(!service.dev && { eventKey, signingKey }),
      });
      app = await startApp(serve({ client, functions: functionsOf(client) }));
      const registered = await fetch(app.url, { method: 'PUT' });
      expect(registered.status, await registered.text()).to.equal(200);
    });
    after(async () => {
      await app?.close();
      await service?.stop();
    });

    function functionsOf(client: Inngest) {
      const on = (id: string, handler: (args: Loose) => Promise<unknown>, options: Options = {}) =>
        client.createFunction({ id, triggers: [{ event: `${APP}/${id}` }], ...options }, async (args: Loose) => {
          count(entries, id);
          const run = (step: string, work: () => unknown = () => step) =>
            args.step.run(step, () => {
              count(effects, `${id}/${step}`);
              return work();
            });
          return handler({ ...args, run });
        });
      const three = async ({ run }: Loose) => [await run('a'), await run('b'), await run('c')];
      return [
        on('immediate', three),
        on('buffered', three, { checkpointing: { bufferedSteps: 2 } }),
        on('all-buffered', three, { checkpointing: { bufferedSteps: 100 } }),
        on('off', three, { checkpointing: false }),
        on('sleeps', async ({ run, step }) => {
          const before = [await run('a'), await run('b')];
          await step.sleep('nap', '100ms');
          return [...before, await run('c'), await run('d')];
        }),
        on('branches', async ({ run }) => {
          const before = [await run('a'), await run('b')];
          const both = await Promise.all([run('one'), run('two')]);
          return [...before, ...both, await run('c'), await run('d')];
        }),
        on('stumbles', async ({ run }) => {
          const before = [await run('a'), await run('b')];
          if (entries.get('stumbles') === 1) throw new Error('stumbled');
          return [...before, await run('c')];
        }),
        on('flaky', async ({ run, attempt }) => {
          await run('a');
          return run('b', () => {
            if (attempt < 1) throw new Error('flaky');
            return `attempt ${attempt}`;
          });
        }),
        on(
          'flaky-buffered',
          async ({ run, attempt }) => {
            await run('a');
            return run('b', () => {
              if (attempt < 1) throw new Error('flaky');
              return `attempt ${attempt}`;
            });
          },
          { checkpointing: { bufferedSteps: 10 } },
        ),
        on(
          'hopeless',
          async ({ run }) => {
            await run('a');
            throw new Error('hopeless');
          },
          { retries: 1 },
        ),
        on(
          'slow',
          async ({ run }) => {
            const first = await run('a');
            await pause(300);
            return [first, await run('b')];
          },
          { checkpointing: { maxRuntime: 100 } },
        ),
        on(
          'by-interval',
          async ({ run }) => {
            const first = await run('a');
            await pause(300);
            return [first, await run('b')];
          },
          { checkpointing: { bufferedSteps: 100, maxInterval: 50 } },
        ),
        on('endless', async ({ run }) => {
          for (let n = 0; n < 200; n++) {
            await run(`step ${n}`);
            await pause(20);
          }
        }),
      ];
    }

    async function outcomeOf(fn: string) {
      const before = requests.length;
      const run = await outside.endedRun(await outside.send(fn));
      const checkpoints = requests.slice(before).filter((path) => path === '/v1/checkpoint/:id/async').length;
      return { output: run.output, status: run.status, run, entries: entries.get(fn), checkpoints };
    }

    const ran = (fn: string) => [...effects].filter(([key]) => key.startsWith(`${fn}/`)).map(([, times]) => times);

    it('runs all steps in one call, and stores each as it ends', async () => {
      const { output, run, entries, checkpoints } = await outcomeOf('immediate');
      expect([output, entries, checkpoints]).to.deep.equal([['a', 'b', 'c'], 1, 3]);
      // The entry of the attempt follows the end of the run.
      const isTold = ({ body }: Loose) => body.data.history.length >= 4;
      const { history } = (await service.waitFor(`/v1/runs/${run.run_id}`, isTold)).body.data;
      expect(history.map(({ kind, name, status }: Loose) => [kind, name, status])).to.deep.equal([
        ['step', 'a', 'Completed'],
        ['step', 'b', 'Completed'],
        ['step', 'c', 'Completed'],
        ['attempt', null, 'Completed'],
      ]);
    });

    for (const [fn, checkpoints] of [
      ['buffered', 1],
      ['all-buffered', 0],
      ['by-interval', 1],
    ] as const) {
      it(`stores buffered steps (${fn})`, async () => {
        const outcome = await outcomeOf(fn);
        expect([outcome.entries, Math.min(outcome.checkpoints, 1)]).to.deep.equal([1, checkpoints]);
        const { history } = (await service.get(`/v1/runs/${outcome.run.run_id}`)).body.data;
        const steps = history.filter(({ kind }: Loose) => kind === 'step').map(({ name }: Loose) => name);
        expect(steps).to.deep.equal(outcome.output);
      });
    }

    it('makes a call for each step without checkpointing', async () => {
      const { output, entries, checkpoints } = await outcomeOf('off');
      expect([output, entries, checkpoints]).to.deep.equal([['a', 'b', 'c'], 4, 0]);
    });

    it('ends the call for a sleep, and continues with checkpoints after it', async () => {
      const { output, entries, checkpoints } = await outcomeOf('sleeps');
      expect([output, entries, checkpoints]).to.deep.equal([['a', 'b', 'c', 'd'], 2, 4]);
    });

    it('continues with checkpoints after parallel steps', async () => {
      const { output, checkpoints } = await outcomeOf('branches');
      expect(output).to.deep.equal(['a', 'b', 'one', 'two', 'c', 'd']);
      expect(checkpoints).to.be.at.least(2);
      expect(ran('branches')).to.deep.equal([1, 1, 1, 1, 1, 1]);
    });

    it('is retried from its last checkpoint', async () => {
      const { output, entries } = await outcomeOf('stumbles');
      // The SDK ends a retried call with the first step that finishes.
      expect([output, entries]).to.deep.equal([['a', 'b', 'c'], 3]);
      expect(ran('stumbles')).to.deep.equal([1, 1, 1]);
    });

    for (const fn of ['flaky', 'flaky-buffered']) {
      it(`retries a step that fails after a checkpoint (${fn})`, async () => {
        const { output } = await outcomeOf(fn);
        expect(output).to.equal('attempt 1');
        expect(ran(fn)).to.deep.equal([1, 2]);
      });
    }

    it('fails after its last attempt', async () => {
      const { status, run, entries } = await outcomeOf('hopeless');
      expect([status, run.error.message, entries]).to.deep.equal(['Failed', 'hopeless', 2]);
    });

    it('is called again when it has used up its time', async () => {
      const { output, entries } = await outcomeOf('slow');
      expect([output, entries]).to.deep.equal([['a', 'b'], 3]);
      expect(ran('slow')).to.deep.equal([1, 1]);
    });

    it('stops when its run is cancelled', async () => {
      const eventId = await outside.send('endless');
      const path = `/v1/events/${eventId}/runs`;
      const { body } = await service.waitFor(path, () => (effects.get('endless/step 2') ?? 0) > 0);
      await service.request('DELETE', `/v1/runs/${body.data[0].run_id}`, undefined, service.apiHeaders);
      const { status } = await outside.endedRun(eventId);
      expect(status).to.equal('Cancelled');
      const done = ran('endless').length;
      await pause(500);
      expect(ran('endless').length).to.be.below(done + 10);
    });
  });
}
