import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { type Duty, duty } from '../../src/duties/duty.ts';
import { DutyRunner } from '../../src/duties/runner.ts';
import { createLog, type Logger } from '../../src/log.ts';
import { FakeTime } from '../support/fake-time.ts';

interface Line {
  level: string;
  duty: string;
  partition: number;
}

const EVERY_MS = 10_000;

const rejection = async (): Promise<void> => {
  throw new Error('no');
};

describe('The runner of duties', () => {
  let time: FakeTime;
  let lines: Line[];
  let rounds: { duty: string; outcome: string; ms: number }[];
  let partitions: number[];
  let runner: DutyRunner;

  beforeEach(() => {
    time = new FakeTime();
    lines = [];
    rounds = [];
    partitions = [0];
    const log = Object.assign(createLog('silent', 'test'), {
      warn: (line: object) => lines.push({ level: 'warn', ...line } as Line),
      info: (line: object) => 'duty' in line && lines.push({ level: 'info', ...line } as Line),
    }) as unknown as Logger;
    runner = new DutyRunner({
      locks: { withLock: () => Promise.reject(new Error('no lease was declared')) },
      partitions: () => partitions,
      recorder: { dutyRound: (duty, outcome, ms) => rounds.push({ duty, outcome, ms }) },
      log,
      time,
    });
  });

  const counting = (rest: Partial<Duty<{ times: number[] }>> = {}) =>
    duty<{ times: number[] }>({
      name: 'counting',
      about: 'Counts',
      scope: 'process',
      everyMs: EVERY_MS,
      rounds:
        ({ times }) =>
        async () => {
          times.push(time.now());
        },
      ...rest,
    });

  it('begins with a round, and repeats it after the declared time', async () => {
    const times: number[] = [];
    const started = runner.start([counting()], { times });
    await time.pass(25_000);
    expect(times).to.deep.equal([0, 10_000, 20_000]);
    await started.close();
    await time.pass(EVERY_MS);
    expect(times).to.have.length(3);
  });

  it('varies the declared time by a quarter, so that processes do not run a duty at the same moment', async () => {
    const times: number[] = [];
    const chance = [0, 0.999];
    time.random = () => chance.shift() ?? 0.5;
    const started = runner.start([counting()], { times });
    await time.pass(20_000);
    expect(times.map(Math.round)).to.deep.equal([0, 7_500, 19_995]);
    await started.close();
  });

  it('starts the next round when the round says so', async () => {
    const times: number[] = [];
    const delays = [5, 0];
    const count = counting({
      rounds:
        ({ times }) =>
        async () => {
          times.push(time.now());
          return delays.shift();
        },
    });
    const started = runner.start([count], { times });
    await time.pass(EVERY_MS);
    expect(times).to.deep.equal([0, 5, 5]);
    await started.close();
  });

  it('waits before the first round if that is declared, and skips unwanted duties', async () => {
    const times: number[] = [];
    const other: number[] = [];
    const late = runner.start([counting({ name: 'late', firstAfterMs: () => 3_000 })], { times });
    const unwanted = runner.start([counting({ name: 'unwanted', isWanted: () => false })], { times: other });
    await time.pass(4_000);
    expect([times, other]).to.deep.equal([[3_000], []]);
    expect(runner.states).to.deep.equal([{ name: 'late', state: 'ok' }]);
    await Promise.all([late.close(), unwanted.close()]);
  });

  it('repeats a failed round after 1, 2 and 4 s and then as declared, logs it once, and says when it works again', async () => {
    const times: number[] = [];
    const failing = counting({
      rounds:
        ({ times }) =>
        async () => {
          times.push(time.now());
          if (times.length < 7) throw new Error(times.length < 3 ? 'no' : 'not either');
        },
    });
    const started = runner.start([failing], { times });
    await time.pass(20_000);
    expect(times).to.deep.equal([0, 1_000, 3_000, 7_000, 15_000]);
    expect(runner.states).to.deep.equal([{ name: 'counting', state: 'failing' }]);
    await time.pass(20_000);
    expect(times.slice(5)).to.deep.equal([25_000, 35_000]);
    expect(lines.map(({ level }) => level)).to.deep.equal(['warn', 'warn', 'info']);
    expect(runner.states).to.deep.equal([{ name: 'counting', state: 'ok' }]);
    expect(rounds.map(({ outcome }) => outcome)).to.deep.equal([...Array(6).fill('failed'), 'completed']);
    await started.close();
  });

  it('runs the other duties while one fails or hangs', async () => {
    const times: number[] = [];
    const hanging = counting({ name: 'hanging', rounds: () => () => new Promise<void>(() => {}) });
    const failing = counting({ name: 'failing', rounds: () => () => rejection() });
    const started = runner.start([hanging, failing, counting()], { times });
    await time.pass(25_000);
    expect(times).to.have.length(3);
    const closed = started.close();
    await time.pass(1_000);
    await closed;
  });

  it('runs a duty in every partition of the worker, and logs the one where it fails', async () => {
    const done: number[] = [];
    partitions = [1, 3];
    const byPartition = duty<undefined>({
      name: 'by-partition',
      about: 'Counts',
      scope: 'partition',
      everyMs: EVERY_MS,
      rounds:
        () =>
        async ({ partition }) => {
          if (partition === 3) throw new Error('no');
          done.push(partition);
        },
    });
    const started = runner.start([byPartition], undefined);
    await time.pass(500);
    expect(done).to.deep.equal([1]);
    expect(lines).to.have.length(1);
    expect(lines[0]).to.include({ duty: 'by-partition', partition: 3 });
    partitions = [2];
    await time.pass(1_000);
    expect(done).to.deep.equal([1, 2]);
    expect(runner.states).to.deep.equal([{ name: 'by-partition', state: 'ok' }]);
    await started.close();
  });

  it('does a round at once on request, after the one in progress', async () => {
    const times: number[] = [];
    const open: (() => void)[] = [];
    const slow = counting({
      rounds:
        ({ times }) =>
        async () => {
          times.push(time.now());
          await new Promise<void>((resolve) => open.push(resolve));
        },
    });
    const started = runner.start([slow], { times });
    await time.pass(1);
    const asked = runner.runNow('counting');
    open.shift()?.();
    await time.pass(1);
    expect(times).to.have.length(2);
    open.shift()?.();
    await asked;
    const failure = await runner.runNow('unknown').catch((error) => error);
    expect(failure.message).to.equal('no duty unknown here, only counting');
    await started.close();
  });

  it('aborts the rounds in progress at the end, waits for them as long as declared, and then does the last work', async () => {
    const events: string[] = [];
    const heeding = duty<undefined>({
      name: 'heeding',
      about: 'Heeds its signal',
      scope: 'process',
      everyMs: EVERY_MS,
      rounds:
        () =>
        ({ signal }) =>
          new Promise<void>((resolve) =>
            signal.addEventListener('abort', () => {
              events.push('told');
              resolve();
            }),
          ),
      end: async () => events.push('last'),
    });
    const deaf = counting({
      name: 'deaf',
      lastRoundMs: 2_000,
      rounds: () => () => new Promise<void>(() => {}),
      end: async () => events.push('last of the deaf'),
    });
    const started = [runner.start([heeding], undefined), runner.start([deaf], { times: [] })];
    await time.pass(1);
    let isClosed = false;
    const closed = Promise.all(started.map((process) => process.close())).then(() => {
      isClosed = true;
    });
    await time.pass(1_999);
    expect([events, isClosed]).to.deep.equal([['told', 'last'], false]);
    await time.pass(1);
    await closed;
    expect(events).to.deep.equal(['told', 'last', 'last of the deaf']);
  });

  it('records how long rounds take', async () => {
    const slow = counting({ rounds: () => () => time.sleep(250, new AbortController().signal) });
    const started = runner.start([slow], { times: [] });
    await time.pass(300);
    expect(rounds).to.deep.equal([{ duty: 'counting', outcome: 'completed', ms: 250 }]);
    await started.close();
  });

  it('rejects a duty of the installation without a lease', () => {
    expect(() => counting({ scope: 'installation' })).to.throw(TypeError, 'the duty counting needs leaseMs');
  });

  it('does no round after the end, even on request', async () => {
    const times: number[] = [];
    const started = runner.start([counting()], { times });
    await setImmediate();
    await started.close();
    await runner.runNow('counting');
    expect(times).to.deep.equal([0]);
  });
});
