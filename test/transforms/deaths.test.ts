import { expect } from 'chai';
import { until } from '../support/until.ts';
import { REQUEST, refusal, returning, start, transformChildren, webhook, withTransforms } from './support.ts';

const fine = () => webhook('const transform = (evt) => ({ name: "fine", n: evt.n })');
/** Long enough to be killed in it. */
const long = () =>
  returning('const end = Date.now() + (evt.ms ?? 20); while (Date.now() < end); return { name: "long" }');
const STRUCK = /had to be stopped|quarantined/;

describe('a child for transforms that is killed from outside', function () {
  this.timeout(60_000);

  it('is nobody’s fault, however often: requests succeed or are told to come again', async () => {
    await withTransforms({ timeoutMs: 5_000, patienceMs: 20_000 }, async (transforms, lines) => {
      const webhooks = [fine(), fine(), long(), fine()];
      await transforms.run(fine(), REQUEST);
      const answers: Promise<string>[] = [];
      for (let kill = 0; kill < 4; kill += 1) {
        for (let n = 0; n < 20; n += 1) {
          const answer = transforms.run(webhooks[n % 4] as (typeof webhooks)[0], { ...REQUEST, body: { n } });
          answers.push(
            answer.then(
              ({ event }) => String(event?.name),
              (error) => `${error.code} ${error.retryAfterSeconds}`,
            ),
          );
        }
        await new Promise(setImmediate);
        for (const pid of transformChildren()) process.kill(pid, 'SIGKILL');
        await transforms.run(fine(), REQUEST).catch(() => undefined);
      }
      expect(new Set(await Promise.all(answers))).to.satisfy((all: Set<string>) =>
        [...all].every((answer) => ['fine', 'long', 'overloaded 1'].includes(answer)),
      );
      expect(lines.filter(({ msg }) => STRUCK.test(msg))).to.deep.equal([]);
      for (const one of webhooks) await transforms.run(one, REQUEST);
    });
  });

  it('twice over one request has that request come again, and holds nothing against its webhook', async () => {
    await withTransforms({ timeoutMs: 10_000, patienceMs: 20_000 }, async (transforms, lines) => {
      const victim = returning(
        'const end = Date.now() + (evt.ms ?? 0); while (Date.now() < end); return { name: "victim" }',
      );
      await transforms.run(victim, REQUEST);
      const [main] = transformChildren() as [number];
      const refused = refusal(transforms.run(victim, { ...REQUEST, body: { ms: 8_000 } }));
      await until(() => transforms.use().inFlight === 1, { describe: 'it runs' });
      process.kill(main, 'SIGKILL');
      await until(() => transformChildren().length === 2 && transforms.use().inFlight === 1, {
        describe: 'it runs alone',
      });
      for (const pid of transformChildren()) process.kill(pid, 'SIGKILL');
      const error = await refused;
      expect([error.code, error.status, error.retryAfterSeconds]).to.deep.equal(['overloaded', 503, 1]);
      expect((await transforms.run(victim, REQUEST)).event).to.deep.equal({ name: 'victim' });
      expect(lines.filter(({ msg }) => STRUCK.test(msg))).to.deep.equal([]);
    });
  });
});

describe('a child for transforms that ends itself', function () {
  this.timeout(60_000);

  it('is no proof against a request that was in it once, alone', async () => {
    await withTransforms({ timeoutMs: 10_000, patienceMs: 20_000 }, async (transforms, lines) => {
      await transforms.run(fine(), REQUEST);
      const [main] = transformChildren() as [number];
      const answer = transforms.run(long(), { ...REQUEST, body: { ms: 2_000 } });
      await until(() => transforms.use().inFlight === 1, { describe: 'it runs' });
      process.kill(main, 'SIGABRT');
      await until(() => transformChildren().length === 2 && transforms.use().inFlight === 1, {
        describe: 'it runs alone',
      });
      for (const pid of transformChildren()) if (pid !== main) process.kill(pid, 'SIGTRAP');
      expect((await answer).event).to.deep.equal({ name: 'long' });
      expect(lines.filter(({ msg }) => STRUCK.test(msg))).to.deep.equal([]);
    });
  });

  it('convicts who does it again and again, and nobody who ran beside it', async () => {
    await withTransforms({ timeoutMs: 5_000, patienceMs: 30_000 }, async (transforms, lines) => {
      const bomb = returning('return { n: Array(1e9).fill(0).length }');
      const beside = Array.from({ length: 8 }, fine);
      await transforms.run(fine(), REQUEST);
      const exploded = refusal(transforms.run(bomb, REQUEST));
      const answers = beside.flatMap((one) => [1, 2, 3].map((n) => transforms.run(one, { ...REQUEST, body: { n } })));
      expect((await exploded).message).to.match(/used too much memory|ran longer/);
      for (const { event } of await Promise.all(answers)) expect(event?.name).to.equal('fine');
      const struck = lines.filter(({ msg }) => STRUCK.test(msg)).map(({ webhook }) => webhook);
      expect(struck).to.deep.equal([bomb.id]);
    });
  });
});

describe('a child for transforms that does not start', function () {
  this.timeout(20_000);

  it('is tried again with growing pauses, and requests are refused at once meanwhile', async () => {
    const { transforms, lines } = start({ bootMs: 0, timeoutMs: 100, patienceMs: 60_000 });
    try {
      const failures = () => lines.filter(({ msg }) => msg === 'a child for transforms could not start').length;
      await until(() => failures() >= 3, { describe: 'three starts have failed' });
      const error = await refusal(transforms.run(fine(), REQUEST));
      expect([error.code, error.status]).to.deep.equal(['overloaded', 503]);
      expect(error.message).to.contain('does not start');
      await until(() => failures() >= 5, { describe: 'it is tried again without a request' });
      expect(transformChildren().length).to.be.at.most(1);
    } finally {
      await transforms.close();
    }
    expect(transformChildren()).to.deep.equal([]);
  });
});
