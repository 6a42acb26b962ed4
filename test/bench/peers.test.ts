import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createConnection } from 'node:net';
import { resolve } from 'node:path';
import { expect } from 'chai';
import { HELP, readOptions } from '../../bench/options.ts';
import { lineOf } from '../../bench/peers/checkouts.ts';
import { FUNCTION_NAMES, FUNCTIONS, RUN, runSteps } from '../../bench/peers/functions.ts';
import { type EngineResult, type LoadResult, type PeerResults, SENDERS } from '../../bench/peers/results.ts';
import type { SendOrder, SendReport } from '../../bench/peers/sender.ts';
import { renderPeerBlock, tablesOf } from '../../bench/peers/tables.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** @param rate of every load, in runs per second */
const engine = (name: string, rate: number, p50Ms: number): EngineResult => ({
  name,
  version: '1.0.0',
  durability: 'disk',
  loads: FUNCTION_NAMES.flatMap((function_) =>
    SENDERS.map((senders) => ({
      function: function_,
      senders,
      runsPerSecond: rate,
      p50Ms,
      p99Ms: 2 * p50Ms,
      cpuMs: { server: 1, app: 2, store: 0.5 },
    })),
  ),
});
const results = (...engines: EngineResult[]): PeerResults => ({
  at: '2026-11-28T10:00:00.000Z',
  commit: 'abc1234',
  machine: { cpu: 'CPU', cores: 2, memoryBytes: 8e9, node: 'v24.0.0', redis: '7.0.0' },
  rounds: 1,
  seconds: 5,
  engines,
});

describe('scripts/bench --against', () => {
  const load = (runsPerSecond: number) =>
    engine('Tidegate', runsPerSecond, 1_000 / runsPerSecond).loads[0] as LoadResult;

  it('shows the median of the ratios of rounds that ran next to each other, with the least and the most', () => {
    // The machine is twice as fast in the second round.
    const rounds = [
      [load(100), load(200), load(100)],
      [load(110), load(240), load(90)],
    ] as const;
    expect(lineOf({ name: 'plain', senders: 32 }, rounds)).to.deep.equal([
      'plain, 32',
      '110: 1.10 × (0.90 to 1.20)',
      '9.1 ms: 0.91 × (0.83 to 1.11)',
      '18.2 ms: 0.91 × (0.83 to 1.11)',
      '1.5 ms: 1.00 × (1.00 to 1.00)',
    ]);
  });

  it('says what is wrong with the folder', async () => {
    const { status, stderr } = spawnSync('scripts/bench', ['--against', '/nowhere'], { cwd: ROOT, encoding: 'utf8' });
    expect(status).to.equal(1);
    expect(stderr).to.include(
      '--against: /nowhere has no bench/peers/engines/tidegate.ts; expected the folder of another',
    );
  });
});

describe('scripts/bench --peers', () => {
  it('is an option of scripts/bench that takes rounds, seconds and the name of an engine', () => {
    expect(HELP).to.include('--peers');
    expect(readOptions([])).to.include({ peers: false });
    const options = readOptions(['--peers', '--rounds', '2', '--seconds', '4', '--only', 'Restate']);
    expect(options).to.include({ peers: true, rounds: 2, seconds: 4, only: 'restate' });
  });

  it('shows rates, latencies and CPU time of each engine', () => {
    const lines = tablesOf(results(engine('Restate', 755, 23))).split('\n');
    const rows = lines.filter((line) => line.startsWith('| Restate'));
    expect(rows.map((row) => row.split(' | ').slice(0, -2))).to.deep.equal([
      ['| Restate (1.0.0)', 'before the next', '755 / 755 / 755'],
      ['| Restate', '23.0 / 46.0 ms'],
      ['| Restate', '3.5 ms (1.0, 2.0, 0.5)'],
    ]);
  });

  it('names where another engine is ahead of Tidegate on disk, and nothing else', () => {
    const own = engine('Tidegate, appendfsync always', 400, 34);
    const slower = engine('DBOS', 300, 50);
    expect(renderPeerBlock('summary', results(own, slower))).to.match(/Tidegate is behind nowhere\.$/);
    const behind = renderPeerBlock(
      'summary',
      results(own, engine('Tidegate', 900, 5), slower, engine('Restate', 800, 23)),
    );
    const misses = behind.split('\n').filter((line) => line.startsWith('- '));
    expect(misses).to.have.length(FUNCTION_NAMES.length);
    expect(misses[1]).to.equal(
      '- three steps, beside Restate: rate 50.0 % at 1, 50.0 % at 32, 50.0 % at 128 senders; ' +
        'p50 34.0 ms, not 23.0 ms; p99 68.0 ms, not 46.0 ms',
    );
  });

  it('shows the caveat of a run, and rejects unknown blocks', () => {
    const noted = { ...results(engine('DBOS', 1, 1)), note: 'On a busy machine.' };
    expect(renderPeerBlock('summary', noted)).to.match(/\n\n\*On a busy machine\.\*$/);
    expect(() => renderPeerBlock('memory', noted)).to.throw('Unknown block "memory"');
  });

  it('gives every engine functions with the same sequential steps', async () => {
    for (const name of FUNCTION_NAMES) {
      const ids: string[] = [];
      await runSteps(name, async (id, work) => ids.push(`${id}: ${await work()}`));
      expect(ids).to.deep.equal(Array.from({ length: FUNCTIONS[name] }, (_, n) => `step-${n + 1}: ${n + 1}`));
    }
  });
});

describe('the sender of scripts/bench --peers', () => {
  let sender: ChildProcess;
  let engineServer: Server;

  afterEach(async () => {
    sender.kill('SIGKILL');
    await once(sender, 'exit');
    engineServer.closeAllConnections();
    engineServer.close();
    await once(engineServer, 'close');
  });

  it('starts the next run only after the previous one has ended, and counts each run once', async () => {
    sender = fork(resolve(ROOT, 'bench/peers/sender.ts'), {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    const [{ port }] = (await once(sender, 'message')) as [{ port: number }];
    const notices = createConnection(port, '127.0.0.1').on('error', () => {});
    const started: number[] = [];
    let [open, most] = [0, 0];
    engineServer = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (text) => {
        body += text;
      });
      request.on('end', () => {
        const { n } = JSON.parse(body);
        started.push(n);
        most = Math.max(most, ++open);
        response.writeHead(202, { 'content-length': 2 }).end('{}', () => {
          open--;
          // An engine that runs the last line twice.
          notices.write(`${n}\n${n}\n`);
        });
      });
    }).listen(0, '127.0.0.1');
    await once(engineServer, 'listening');
    const url = `http://127.0.0.1:${(engineServer.address() as AddressInfo).port}/start`;
    sender.send({ url, body: `{"n":${RUN}}`, senders: 3, seconds: 0.2 } satisfies SendOrder);
    const [report] = (await once(sender, 'message')) as [SendReport];
    notices.destroy();
    expect(report.runs).to.equal(started.length).and.to.be.greaterThan(3);
    expect(new Set(started).size).to.equal(started.length);
    expect(most).to.be.at.most(3);
    expect(report.p99Ms).to.be.at.least(report.p50Ms);
  });
});
