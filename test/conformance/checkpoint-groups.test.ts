import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { type AppHost, type Call, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';
import { eachCase } from './cases.ts';

interface Case {
  title: string;
  stored: number[];
  shared_status?: number;
  shares: boolean;
  [ofTheClient: string]: unknown;
}

const OP = { id: createHash('sha1').update('a').digest('hex'), name: 'a', op: 'StepRun', data: 'x' };

/** How a checkpoint of a call gets this status from the real service. */
const CHANGES: Record<number, (checkpoint: { qi_id: string; steps: object[] }) => object> = {
  200: (checkpoint) => checkpoint,
  400: (checkpoint) => ({ ...checkpoint, steps: [{ ...OP, op: 'Sleep', opts: { duration: '1s' } }] }),
  409: (checkpoint) => ({ ...checkpoint, qi_id: ofAnotherCall(checkpoint.qi_id) }),
};

/** The real service responds to a shared request as the fake one does. */
describe('The service conforms: checkpoint-groups', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService();
    host = await startAppHost();
    await host.register(service, [{ id: 'f', triggers: [{ event: 'groups/x' }] }]);
  });
  after(async () => {
    await host.close();
    await service.stop();
  });

  eachCase<Case>(
    'checkpoint-groups',
    { stored: true, shares: true, shared_status: true, answers: true, result_length: true },
    async ({ stored }) => {
      const expected = stored.filter((status) => status in CHANGES);
      const mayRespond = Promise.withResolvers<void>();
      const calls: Call[] = [];
      const all = Promise.withResolvers<void>();
      host.on('f', async (call) => {
        if (calls.push(call) === expected.length) all.resolve();
        await mayRespond.promise;
        return { status: 200, body: null };
      });
      await service.post(
        '/e/key',
        expected.map(() => ({ name: 'groups/x', data: {} })),
      );
      await all.promise;
      const checkpoints = calls.map(({ body: { ctx } }, n) => {
        const checkpoint = { run_id: ctx.run_id, fn_id: ctx.fn_id, qi_id: ctx.qi_id, steps: [OP] };
        return CHANGES[expected[n] as number]?.(checkpoint);
      });
      const { status, body } = await service.post('/v1/checkpoints', { checkpoints });
      mayRespond.resolve();
      expect(status).to.equal(200);
      expect(body.results.map(({ status }: { status: number }) => status)).to.deep.equal(expected);
      for (const result of body.results) expect(result).to.have.all.keys('status', 'code', 'message');
    },
    ({ shares, shared_status }) => shares && shared_status === undefined,
  );
});

function ofAnotherCall(item: string): string {
  const [env, at, ...rest] = JSON.parse(Buffer.from(item, 'base64url').toString());
  return Buffer.from(JSON.stringify([env, at + 1, ...rest])).toString('base64url');
}
