import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { type Service, startService } from '../support/service.ts';

const EXAMPLES = resolve(import.meta.dirname, '../../examples');
const LANGUAGES = ['typescript', 'python', 'go'];
/** For a first start, which installs dependencies. */
const START_MS = 600_000;

interface Shop {
  process: ChildProcess;
  output(): string;
  /** Resolves when the line appears. @throws with the output if the program exits first */
  says(line: RegExp): Promise<void>;
}

describe('Example shops', () => {
  let service: Service;
  const shops = new Map<string, Shop>();

  before(async function () {
    this.timeout(START_MS);
    service = await startService();
    for (const language of LANGUAGES) shops.set(language, startShop(language, service.url));
    await Promise.all([...shops.values()].map((shop) => shop.says(/^Registered$/m)));
  });
  after(async () => {
    for (const { process } of shops.values()) if (isRunning(process)) process.kill('SIGKILL');
    await service.stop();
  });

  const runsOf = async (eventId: string, count: number) => {
    const ended = (run: { ended_at: string | null }) => run.ended_at !== null;
    const { body } = await service.waitFor(
      `/v1/events/${eventId}/runs`,
      ({ body }) => body.data?.length === count && body.data.every(ended),
    );
    return new Map(body.data.map((run: { function_id: string }) => [run.function_id, run]));
  };

  /** Waits until the order of each shop waits for its payment. */
  const allWait = async (eventId: string) => {
    const { body } = await service.waitFor(
      `/v1/events/${eventId}/runs`,
      ({ body }) => body.data?.length === 2 * LANGUAGES.length,
    );
    const orders = body.data.filter(({ function_id }: { function_id: string }) => function_id.endsWith('fulfil-order'));
    for (const { run_id } of orders) {
      const waits = (entry: { status: string }) => entry.status === 'Waiting';
      await service.waitFor(`/v1/runs/${run_id}`, ({ body }) => body.data?.history.some(waits));
    }
  };

  it('fulfill a paid order, in every language', async () => {
    const lines = [{ sku: 'tea', quantity: 3 }];
    const placed = await service.post('/e/key', {
      name: 'order/placed',
      data: { orderId: 'A1', customer: 'Ada', lines },
    });
    await allWait(placed.body.ids[0]);
    const paid = await service.post('/e/key', {
      name: 'order/paid',
      data: { orderId: 'A1', customer: 'Ada', total: 120 },
    });

    const fulfilled = await runsOf(placed.body.ids[0], 2 * LANGUAGES.length);
    const caused = await runsOf(paid.body.ids[0], 3 * LANGUAGES.length);
    for (const language of LANGUAGES) {
      const id = (name: string) => `example-shop${language === 'typescript' ? '' : `-${language}`}-${name}`;
      expect(fulfilled.get(id('fulfil-order'))).to.deep.include({
        status: 'Completed',
        output: { orderId: 'A1', status: 'delivered', parcel: { number: 'P-A1', pieces: 3 } },
      });
      expect(caused.get(id('send-receipt'))).to.deep.include({ status: 'Completed', output: { sentTo: 'Ada' } });
      expect(caused.get(id('reward-big-order'))).to.deep.include({ status: 'Completed', output: { points: 12 } });
      expect(caused.get(id('audit'))).to.deep.include({ status: 'Completed', output: null });
    }
  });

  it('retry when the warehouse is busy, in every language', async () => {
    const changed = await service.post('/e/key', { name: 'stock/changed', data: { sku: 'cups', quantity: 4 } });
    const runs = await runsOf(changed.body.ids[0], LANGUAGES.length);
    for (const run of runs.values()) {
      expect(run).to.deep.include({ status: 'Completed', attempt: 1, output: { sku: 'cups', quantity: 4 } });
    }
  });

  it('exit on SIGTERM', async () => {
    for (const { process, output } of shops.values()) {
      process.kill('SIGTERM');
      const [code, signal] = await once(process, 'exit');
      // uvicorn shuts down gracefully and then re-raises the signal.
      expect([code, signal], output()).to.be.deep.oneOf([
        [0, null],
        [null, 'SIGTERM'],
      ]);
    }
  });
});

function startShop(language: string, serviceUrl: string): Shop {
  const child = spawn(join(EXAMPLES, language, 'start'), {
    env: { ...process.env, SERVICE_DEV: serviceUrl, PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines = createInterface({ input: child.stdout });
  let output = '';
  lines.on('line', (line) => {
    output += `${line}\n`;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  return {
    process: child,
    output: () => output,
    async says(line) {
      while (!line.test(output)) {
        const next = await Promise.race([once(lines, 'line'), once(child, 'close').then(() => undefined)]);
        if (!next) throw new Error(`The shop in ${language} ended without saying ${line}. It said:\n${output}`);
      }
    },
  };
}

function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}
