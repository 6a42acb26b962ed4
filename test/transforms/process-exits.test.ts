import { platform } from 'node:os';
import { expect } from 'chai';
import { until } from '../support/until.ts';
import { errorOf, fieldsOf, REQUEST, returning, start, transformChildren, webhook, withTransforms } from './support.ts';

const fine = () => webhook('const transform = (evt) => ({ name: "fine", n: evt.n })');
/** Runs long enough that the test can kill the process. */
const long = () =>
  returning('const end = Date.now() + (evt.ms ?? 20); while (Date.now() < end); return { name: "long" }');
const STRIKE_LINES = /transform stopped|transform quarantined/;

describe('A transform process that is killed from outside', () => {
  it('blames no transform, however often it happens: requests succeed or get 503 with Retry-After', async () => {
    await withTransforms({ timeoutMs: 5_000, totalTimeoutMs: 20_000 }, async (transforms, lines) => {
      const webhooks = [fine(), fine(), long(), fine()];
      await transforms.run(fine(), REQUEST);
      const outcomes: Promise<string>[] = [];
      for (let kill = 0; kill < 4; kill += 1) {
        for (let n = 0; n < 20; n += 1) {
          const outcome = transforms.run(webhooks[n % 4] as (typeof webhooks)[0], { ...REQUEST, body: { n } });
          outcomes.push(
            outcome.then(
              (outcome) => String(fieldsOf(outcome).name),
              (error) => `${error.code} ${error.retryAfterSeconds}`,
            ),
          );
        }
        await new Promise(setImmediate);
        for (const pid of transformChildren()) process.kill(pid, 'SIGKILL');
        await transforms.run(fine(), REQUEST).catch(() => undefined);
      }
      expect(new Set(await Promise.all(outcomes))).to.satisfy((all: Set<string>) =>
        [...all].every((outcome) => ['fine', 'long', 'overloaded 1'].includes(outcome)),
      );
      expect(lines.filter(({ msg }) => STRIKE_LINES.test(msg))).to.deep.equal([]);
      for (const one of webhooks) await transforms.run(one, REQUEST);
    });
  });

  it('responds with 503 to a request that was inside twice, without a strike for its webhook', async () => {
    await withTransforms({ timeoutMs: 10_000, totalTimeoutMs: 20_000 }, async (transforms, lines) => {
      const victim = returning(
        'const end = Date.now() + (evt.ms ?? 0); while (Date.now() < end); return { name: "victim" }',
      );
      await transforms.run(victim, REQUEST);
      const [main] = transformChildren() as [number];
      const rejected = errorOf(transforms.run(victim, { ...REQUEST, body: { ms: 8_000 } }));
      await until(() => transforms.usage().inFlight === 1, { describe: 'the request runs' });
      process.kill(main, 'SIGKILL');
      await until(() => transformChildren().length === 2 && transforms.usage().inFlight === 1, {
        describe: 'the request runs alone',
      });
      for (const pid of transformChildren()) process.kill(pid, 'SIGKILL');
      const error = await rejected;
      expect([error.code, error.status, error.retryAfterSeconds]).to.deep.equal(['overloaded', 503, 1]);
      expect((await transforms.run(victim, REQUEST)).returned).to.deep.equal({ name: 'victim' });
      expect(lines.filter(({ msg }) => STRIKE_LINES.test(msg))).to.deep.equal([]);
    });
  });

  (platform() === 'linux' ? it : it.skip)('blames no transform when it is stopped and not killed', async () => {
    await withTransforms({ timeoutMs: 200, totalTimeoutMs: 20_000 }, async (transforms, lines) => {
      await transforms.run(fine(), REQUEST);
      for (const pid of transformChildren()) process.kill(pid, 'SIGSTOP');
      expect(fieldsOf(await transforms.run(fine(), REQUEST)).name).to.equal('fine');
      expect(lines.filter(({ msg }) => STRIKE_LINES.test(msg))).to.deep.equal([]);
    });
  });
});

describe('A transform process that crashes', () => {
  it('gives no strike to a request that was inside alone, once', async () => {
    await withTransforms({ timeoutMs: 10_000, totalTimeoutMs: 20_000 }, async (transforms, lines) => {
      await transforms.run(fine(), REQUEST);
      const [main] = transformChildren() as [number];
      const outcome = transforms.run(long(), { ...REQUEST, body: { ms: 2_000 } });
      await until(() => transforms.usage().inFlight === 1, { describe: 'the request runs' });
      process.kill(main, 'SIGABRT');
      await until(() => transformChildren().length === 2 && transforms.usage().inFlight === 1, {
        describe: 'the request runs alone',
      });
      for (const pid of transformChildren()) if (pid !== main) process.kill(pid, 'SIGTRAP');
      expect((await outcome).returned).to.deep.equal({ name: 'long' });
      expect(lines.filter(({ msg }) => STRIKE_LINES.test(msg))).to.deep.equal([]);
    });
  });

  it('gives a strike to the transform that crashes it repeatedly, and to no other that ran beside it', async () => {
    await withTransforms({ timeoutMs: 5_000, totalTimeoutMs: 30_000 }, async (transforms, lines) => {
      const bomb = returning('return { n: Array(1e9).fill(0).length }');
      const beside = Array.from({ length: 8 }, fine);
      await transforms.run(fine(), REQUEST);
      const exploded = errorOf(transforms.run(bomb, REQUEST));
      const outcomes = beside.flatMap((item) =>
        [1, 2, 3].map((n) => transforms.run(item, { ...REQUEST, body: { n } })),
      );
      expect((await exploded).message).to.match(/used too much memory|ran longer/);
      for (const outcome of await Promise.all(outcomes)) expect(fieldsOf(outcome).name).to.equal('fine');
      const strikes = lines.filter(({ msg }) => STRIKE_LINES.test(msg)).map(({ webhook }) => webhook);
      expect(strikes).to.deep.equal([bomb.id]);
    });
  });
});

describe('A transform process that does not start', () => {
  it('restarts with exponential backoff, while requests get 503 at once', async () => {
    const { transforms, lines } = start({ startTimeoutMs: 0, timeoutMs: 100, totalTimeoutMs: 60_000 });
    try {
      const failures = () => lines.filter(({ msg }) => msg === 'transform process did not start').length;
      await until(() => failures() >= 3, { describe: 'three starts have failed' });
      const error = await errorOf(transforms.run(fine(), REQUEST));
      expect([error.code, error.status]).to.deep.equal(['overloaded', 503]);
      expect(error.message).to.contain('does not start');
      await until(() => failures() >= 5, { describe: 'the process restarts without a request' });
      expect(transformChildren().length).to.be.at.most(1);
    } finally {
      await transforms.close();
    }
    expect(transformChildren()).to.deep.equal([]);
  });
});
