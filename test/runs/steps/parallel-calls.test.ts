import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { type AppHost, type Call, type HostResponse, startAppHost } from '../../support/app-host.ts';
import { type Service, startService } from '../../support/service.ts';
import { type Loose, SDK_ADAPTERS, startApp } from './sdk-adapters.ts';

const hash = (name: string) => createHash('sha1').update(name).digest('hex');
const op = (kind: string, name: string, rest: object = {}) => ({
  op: kind,
  id: hash(name),
  name,
  displayName: name,
  ...rest,
});

interface ResponseOptions {
  /** The options of the operations that report a step. */
  opts?: object;
  headers?: Record<string, string>;
  /** Runs a step. Default: it finishes at once. */
  run?: (name: string, call: Call) => HostResponse | Promise<HostResponse>;
}

/** Responds like an SDK: `branches` run in parallel, the steps of each one after the other. */
function parallel(branches: string[][], { opts, headers = {}, run = ran }: ResponseOptions = {}) {
  return async (call: Call): Promise<HostResponse> => {
    const { steps } = call.body;
    const requested = branches.flat().find((name) => hash(name) === call.stepId);
    if (requested) return { headers, ...(await run(requested, call)) };
    const found = branches.flatMap((names) => names.find((name) => !(hash(name) in steps)) ?? []);
    if (found.length === 0) return { headers, body: 'done' };
    return { status: 206, headers, body: found.map((name) => op('StepPlanned', name, { opts })) };
  };
}

function ran(name: string): HostResponse {
  return { status: 206, body: [op('StepRun', name, { data: name })] };
}

describe('Calls of a run with parallel steps', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService({ env: { RETRY_SCALE: '0.0005' } });
    host = await startAppHost();
  });
  after(async () => {
    await host.close();
    await service.stop();
  });

  const run = async (fnId: string, retries = 4) => {
    await host.register(service, [{ id: fnId, retries, triggers: [{ event: `parallel/${fnId}` }] }]);
    const { body: sent } = await service.post('/e/key', { name: `parallel/${fnId}`, data: {} });
    const { body } = await service.waitFor(`/v1/events/${sent.ids[0]}/runs`, ({ body }) => body.data?.[0]?.ended_at);
    return body.data[0];
  };
  /** The steps that calls ran, `-` for calls of the function itself. */
  const callsOf = (fnId: string) =>
    host.calls(fnId).map(({ stepId, body }) => (stepId === 'step' ? `-${body.ctx.stack.current}` : stepId));

  it('two branches of two steps take seven calls', async () => {
    host.on(
      'two-by-two',
      parallel([
        ['a1', 'a2'],
        ['b1', 'b2'],
      ]),
    );
    expect(await run('two-by-two')).to.include({ status: 'Completed', output: 'done' });
    expect(host.calls('two-by-two')).to.have.length(7);
    expect(callsOf('two-by-two').filter((call) => call?.startsWith('-'))).to.deep.equal(['-0', '-2', '-4']);
  });

  for (const [title, fnId, options] of [
    ['whose operations ask for race mode', 'race', { opts: { parallelMode: 'race' } }],
    ['in the spelling of the Go SDK', 'race-go', { opts: { parallelMode: 'Race' } }],
    ['of an SDK that speaks version 1 of the call format', 'version-1', { headers: { 'x-service-req-version': '1' } }],
  ] as const) {
    it(`a branch continues while the other runs, ${title}`, async () => {
      const barrier = Promise.withResolvers<void>();
      const order: string[] = [];
      const runInOrder = async (name: string) => {
        if (name === 'b1') await barrier.promise;
        if (name === 'a2') barrier.resolve();
        order.push(name);
        return ran(name);
      };
      host.on(
        fnId,
        parallel(
          [
            ['a1', 'a2'],
            ['b1', 'b2'],
          ],
          { ...options, run: runInOrder },
        ),
      );
      expect(await run(fnId)).to.include({ status: 'Completed', output: 'done' });
      expect(order).to.deep.equal(['a1', 'a2', 'b1', 'b2']);
      expect(new Set(callsOf(fnId)).size, 'no call is repeated').to.equal(callsOf(fnId).length);
    });
  }

  it('many steps that end at the same time cause one further call', async () => {
    const names = Array.from({ length: 40 }, (_, i) => `s${i}`);
    host.on('wide', parallel(names.map((name) => [name])));
    expect(await run('wide')).to.include({ status: 'Completed' });
    expect(host.calls('wide')).to.have.length(42);
  });

  it('sleeps, waits, invocations and steps of one response wait for each other, and failures among them count as ended', async () => {
    const names = ['sleep', 'wait', 'invoke', 'run', 'fails'];
    host.on('mixed', (call) => {
      if (call.stepId === hash('run')) return ran('run');
      if (call.stepId === hash('fails')) {
        return { status: 206, body: [op('StepError', 'fails', { error: { name: 'Error', message: 'no' } })] };
      }
      if (names.every((name) => hash(name) in call.body.steps)) return { body: call.body.steps };
      return {
        status: 206,
        body: [
          op('InvokeFunction', 'invoke', { opts: { function_id: 'test-app-nowhere', payload: {} } }),
          op('Sleep', 'sleep', { opts: { duration: '200ms' } }),
          op('WaitForEvent', 'wait', { opts: { event: 'parallel/never', timeout: '300ms' } }),
          op('StepPlanned', 'run'),
          op('StepPlanned', 'fails'),
        ],
      };
    });
    const { status, output } = await run('mixed', 1);
    expect(status).to.equal('Completed');
    expect(output[hash('fails')].error.message).to.equal('no');
    expect(output[hash('invoke')].error.message).to.match(/^could not find function with ID/);
    // Once to find the steps, one for the step that runs, two for the one that fails, once with all results.
    expect(host.calls('mixed')).to.have.length(5);
  });

  it('a result beside steps that start in the same response waits for them', async () => {
    host.on('beside', ({ stepId, body: { steps } }) => {
      if (stepId === hash('later')) return ran('later');
      if (hash('later') in steps) return { body: Object.keys(steps).length };
      return {
        status: 206,
        body: [op('StepRun', 'now', { data: 1 }), op('StepRun', 'too', { data: 2 }), op('StepPlanned', 'later')],
      };
    });
    expect(await run('beside')).to.include({ status: 'Completed', output: 3 });
    expect(host.calls('beside')).to.have.length(3);
  });

  it('several results of one response cause one further call', async () => {
    host.on('results', ({ body: { steps } }) => {
      if (hash('two') in steps) return { body: 'done' };
      return { status: 206, body: [op('StepRun', 'one', { data: 1 }), op('StepRun', 'two', { data: 2 })] };
    });
    expect(await run('results')).to.include({ status: 'Completed', output: 'done' });
    expect(host.calls('results').map(({ body }) => body.ctx.stack.current)).to.deep.equal([0, 2]);
  });

  it('steps after a group run at once again', async () => {
    const told: boolean[] = [];
    host.on('after', async (call) => {
      const { steps, ctx } = call.body;
      if (hash('after') in steps) return { body: 'done' };
      if (hash('x') in steps && hash('y') in steps) {
        told.push(ctx.disable_immediate_execution);
        return ran('after');
      }
      return parallel([['x'], ['y']])(call);
    });
    expect(await run('after')).to.include({ status: 'Completed', output: 'done' });
    expect(told).to.deep.equal([false]);
    expect(host.calls('after')).to.have.length(5);
  });

  for (const sdk of SDK_ADAPTERS) {
    const twoByTwo = async ({ step }: Loose) => {
      const branch = async (name: string) => {
        const first: number = await step.run(`${name}1`, () => 1);
        return first + ((await step.run(`${name}2`, () => 1)) as number);
      };
      return Promise.all([branch('a'), branch('b')]);
    };

    it(`two branches of two steps take seven calls of ${sdk.name}`, async () => {
      expect(await countedBySdk(sdk, 'waits', twoByTwo)).to.equal(7);
    });
  }

  it('in race mode, two branches of two steps take up to nine calls of the official SDK', async () => {
    const official = SDK_ADAPTERS.find(({ name }) => name === 'the official SDK') as (typeof SDK_ADAPTERS)[number];
    const barrier = Promise.withResolvers<void>();
    const order: string[] = [];
    const race = ({ step, group }: Loose) =>
      group.parallel({ mode: 'race' }, () => {
        const branch = async (name: string) => {
          for (const id of [`${name}1`, `${name}2`]) {
            await step.run(id, async () => {
              if (id === 'b1') await barrier.promise;
              if (id === 'a2') barrier.resolve();
              order.push(id);
            });
          }
        };
        return Promise.all([branch('a'), branch('b')]);
      });
    const calls = await countedBySdk(official, 'races', race);
    expect(order).to.deep.equal(['a1', 'a2', 'b1', 'b2']);
    expect(calls).to.be.within(8, 9);
  });

  /** Runs the function once. @returns the number of its calls */
  async function countedBySdk(sdk: (typeof SDK_ADAPTERS)[number], id: string, handler: Loose): Promise<number> {
    const name = `counted/${id}-${sdk.name}`;
    const client = sdk.client(service, `counted-${id}`);
    const app = await startApp(
      sdk.serve(client, [client.createFunction({ id: 'f', triggers: [{ event: name }] }, handler)]),
    );
    try {
      const { body: sent } = await service.post('/e/key', { name, data: {} });
      const { body } = await service.waitFor(`/v1/events/${sent.ids[0]}/runs`, ({ body }) => body.data?.[0]?.ended_at);
      const run = (await service.get(`/v1/runs/${body.data[0].run_id}`)).body.data;
      expect(run.status, JSON.stringify(run.error)).to.equal('Completed');
      return run.history.filter(({ kind }: Loose) => kind === 'attempt').length;
    } finally {
      await app.close();
    }
  }
});
