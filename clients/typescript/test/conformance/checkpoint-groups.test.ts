import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { Tidegate } from 'tidegate';
import { serve } from 'tidegate/node';
import { eachCase } from '../../../../test/conformance/cases.ts';
import { until } from '../../../../test/support/until.ts';
import { useCleanEnv, useServers } from '../servers.ts';
import { requestOf } from './call.ts';
import { ask } from './wire.ts';

interface Case {
  title: string;
  result_length?: number;
  stored: number[];
  shared_status?: number;
  shares: boolean;
  answers: number[];
}

const FIELDS = { result_length: true, stored: true, shared_status: true, shares: true, answers: true } as const;
/** Requests that the service holds until all calls have run their step. */
const HELD = 2;

describe('TypeScript conforms: checkpoint-groups', () => {
  useCleanEnv();
  const { listen } = useServers();

  eachCase<Case>('checkpoint-groups', FIELDS, async (given) => {
    const { result_length = 1, stored, shared_status = 200, shares, answers } = given;
    const released = Promise.withResolvers<void>();
    const received: { isShared: boolean; runs: string[] }[] = [];
    let inFlight = 0;
    let mostInFlight = 0;
    let ran = 0;
    const service = await listen(async (req: IncomingMessage, res: ServerResponse) => {
      const isShared = req.url === '/v1/checkpoints';
      const body = JSON.parse(await text(req));
      const runs: string[] = (isShared ? body.checkpoints : [body]).map(({ run_id }: { run_id: string }) => run_id);
      received.push({ isShared, runs });
      mostInFlight = Math.max(mostInFlight, ++inFlight);
      await released.promise;
      inFlight--;
      const results = runs.map((run) => ({ status: stored[numberOf(run)], code: '', message: '' }));
      res.writeHead(isShared ? shared_status : (results[0]?.status ?? 0)).end(JSON.stringify({ results }));
    });
    const client = new Tidegate({ id: 'shop', isDev: true, baseUrl: service });
    const fn = client.createFunction({ id: 'fn', triggers: { event: 'order/paid' } }, ({ step }) =>
      step.run('a', () => {
        ran++;
        return 'x'.repeat(result_length);
      }),
    );
    const app = await listen(serve({ client, functions: [fn] }));
    const call = (number: number) => ask(app, requestOf({ run_id: runOf(number), qi_id: 'q', fn_id: 'f' }));
    const calls: ReturnType<typeof call>[] = [];
    for (const number of stored.keys()) {
      calls.push(call(number));
      if (number < HELD)
        await until(() => received.length > number, { describe: () => `call ${number} stores its step` });
    }
    await until(() => ran === stored.length, { describe: () => `${ran} calls run their step` });
    released.resolve();
    const statuses = (await Promise.all(calls)).map(({ response }) => response.statusCode);
    expect(statuses).to.deep.equal(answers);
    expect(received.some(({ isShared }) => isShared)).to.equal(shares);
    const isOlder = shared_status === 404;
    if (!isOlder) expect(mostInFlight).to.be.at.most(HELD);
    const sent = received.filter(({ isShared }) => !(isShared && isOlder)).flatMap(({ runs }) => runs.map(numberOf));
    expect(sent.sort((a, b) => a - b)).to.deep.equal([...stored.keys()]);
  });
});

function runOf(number: number): string {
  return `01HQZX8K2D3F4G5H6J7K8M9${String(number).padStart(3, '0')}`;
}

function numberOf(run: string): number {
  return Number(run.slice(-3));
}
