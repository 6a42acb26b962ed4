import { expect } from 'chai';
import { edited, QUICK, REQUEST, refusal, returning, shared, webhook, withTransforms } from './support.ts';

const flooding = returning('return { name: "flood" }');
const innocent = webhook('const transform = (evt) => ({ name: "fine", data: evt })');

/** No time-out inside the isolate ends this one: the parent has to kill the child. */
const STUCK = 'return { found: new Array(2 ** 32 - 2).indexOf(1) }';

describe('a transform that does not come to its end', function () {
  this.timeout(20_000);
  const transforms = shared(QUICK);

  for (const [what, body] of [
    ['loops for ever', 'while (true);'],
    ['backtracks for ever', 'return { m: /^(a+)+$/.test("a".repeat(40) + "b") }'],
    ['chains microtasks for ever', 'return (async () => { while (true) await null })()'],
    ['waits for a promise that never settles', 'return new Promise(() => {})'],
    ['is stuck inside the engine', STUCK],
  ] as const) {
    it(`is stopped when it ${what}, and the service goes on`, async () => {
      const error = await refusal(transforms.run(returning(body)));
      expect(error.code).to.equal('transform_failed');
      expect(error.message).to.contain('ran longer than 250 ms');
      expect((await transforms.run(innocent)).event).to.include({ name: 'fine' });
    });
  }

  it('is stopped when the code around the function does not end', async () => {
    const error = await refusal(transforms.run(webhook('for (;;);\nfunction transform() {}')));
    expect(error.message).to.contain('ran longer than 250 ms');
  });

  it('does not keep others waiting when only some of its requests loop', async () => {
    await withTransforms({ ...QUICK, threads: 1 }, async (transforms) => {
      const moody = returning('if (evt.loop) while (true); return { name: "quick" }');
      await transforms.run(moody, REQUEST);
      const loops = Array.from({ length: 8 }, () =>
        refusal(transforms.run(moody, { ...REQUEST, body: { loop: true } })),
      );
      const order: string[] = [];
      const all = Promise.all(loops).then(() => order.push('loops'));
      await transforms.run(innocent, REQUEST).then(() => order.push('innocent'));
      await all;
      expect(order).to.deep.equal(['innocent', 'loops']);
    });
  });

  it('has its other requests served that were handed over with the one that loops', async () => {
    const moody = returning('if (evt.loop) while (true); return { n: evt.n }');
    for (let n = 0; n < 50; n += 1) await transforms.run(moody, REQUEST);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 12 }, (_, n) => transforms.run(moody, { ...REQUEST, body: { n, loop: n === 5 } })),
    );
    outcomes.forEach((outcome, n) => {
      if (n === 5) expect(outcome.status).to.equal('rejected');
      else expect((outcome as PromiseFulfilledResult<{ event: unknown }>).value.event).to.deep.equal({ n });
    });
  });
});

describe('a transform that takes too much memory', function () {
  this.timeout(30_000);

  const BOMBS = [
    'return { n: Array(1e9).fill(0).length }',
    'return { n: "x".repeat(5e8).split("").length }',
    'const map = new Map(); for (let i = 0; ; i++) map.set(i, { i })',
  ];

  it('fails, while every request of another webhook succeeds', async () => {
    await withTransforms({ timeoutMs: 700, graceMs: 200, patienceMs: 20_000 }, async (transforms, lines) => {
      const bombs = BOMBS.map(returning);
      const exploded = Promise.all(bombs.map((bomb) => refusal(transforms.run(bomb, REQUEST))));
      const fine = await Promise.all(
        Array.from({ length: 50 }, (_, n) => transforms.run(innocent, { ...REQUEST, body: { n } })),
      );
      expect(fine.map(({ event }) => event)).to.deep.equal(
        Array.from({ length: 50 }, (_, n) => ({ name: 'fine', data: { n } })),
      );
      for (const error of await exploded) {
        expect(error.code).to.equal('transform_failed');
        expect(error.message).to.match(/used too much memory and was stopped|ran longer than 700 ms/);
      }
      const struck = lines.filter(({ msg }) => msg.includes('had to be stopped')).map(({ webhook }) => webhook);
      expect(struck).to.have.members(bombs.map(({ id }) => id));
    });
  });

  it('is told so', async () => {
    await withTransforms({ timeoutMs: 15_000, patienceMs: 20_000 }, async (transforms) => {
      const error = await refusal(transforms.run(returning('return { n: "x".repeat(5e8).split("").length }'), REQUEST));
      expect(error.message).to.contain('used too much memory and was stopped');
    });
  });

  it('takes no other request of its own webhook with it', async () => {
    await withTransforms({ timeoutMs: 5_000, patienceMs: 20_000 }, async (transforms) => {
      const moody = returning('return { n: evt.heavy ? "x".repeat(5e8).split("").length : 1 }');
      await transforms.run(moody, REQUEST);
      const heavy = refusal(transforms.run(moody, { ...REQUEST, body: { heavy: true } }));
      const light = await Promise.all(Array.from({ length: 10 }, () => transforms.run(moody, REQUEST)));
      expect(light.map(({ event }) => event)).to.deep.equal(Array(10).fill({ n: 1 }));
      expect((await heavy).code).to.equal('transform_failed');
    });
  });
});

describe('quarantine', function () {
  this.timeout(20_000);
  const transforms = shared(QUICK);
  const loop = () => returning('if (evt.fine) return {}; while (true);');

  it('begins with the third stop within a minute and answers at once, and is written to the log', async () => {
    const bad = loop();
    for (let i = 0; i < 3; i += 1) {
      expect((await refusal(transforms.run(bad))).code).to.equal('transform_failed');
    }
    const error = await refusal(transforms.run(bad));
    expect(error.code).to.equal('transform_quarantined');
    expect(error.status).to.equal(503);
    expect(error.retryAfterSeconds).to.be.within(58, 60);
    const warnings = transforms
      .lines()
      .filter(({ level, webhook }) => level === 40 && webhook === bad.id)
      .map(({ msg }) => msg);
    expect(warnings).to.deep.equal([
      'a transform had to be stopped',
      'a transform had to be stopped',
      'a transform had to be stopped',
      'a transform is quarantined',
    ]);
  });

  it('is answered to the requests that wait, too', async () => {
    const bad = loop();
    const errors = await Promise.all(Array.from({ length: 20 }, () => refusal(transforms.run(bad))));
    const codes = Object.groupBy(errors, ({ code }) => code);
    expect(codes.transform_failed).to.have.length(3);
    expect(codes.transform_quarantined).to.have.length(17);
  });

  it('is lifted at once when the code is edited', async () => {
    const bad = loop();
    for (let i = 0; i < 3; i += 1) await refusal(transforms.run(bad));
    expect((await refusal(transforms.run(bad))).code).to.equal('transform_quarantined');
    const good = edited(bad, 'const transform = () => ({ name: "mended" })');
    expect((await transforms.run(good)).event).to.deep.equal({ name: 'mended' });
  });

  it('is over after a minute', async () => {
    let laterMs = 0;
    await withTransforms({ ...QUICK, now: () => performance.now() + laterMs }, async (transforms) => {
      const bad = loop();
      for (let i = 0; i < 3; i += 1) await refusal(transforms.run(bad, REQUEST));
      expect((await refusal(transforms.run(bad, REQUEST))).code).to.equal('transform_quarantined');
      laterMs = 61_000;
      expect((await transforms.run(bad, { ...REQUEST, body: { fine: true } })).event).to.deep.equal({});
    });
  });

  it('also meets the check of code that was stopped before', async () => {
    const code = 'while (true);';
    for (let i = 0; i < 3; i += 1) {
      expect((await refusal(transforms.check(code))).code).to.equal('transform_invalid');
    }
    expect((await refusal(transforms.check(code))).code).to.equal('transform_quarantined');
    await transforms.check('function transform() {}');
  });
});

describe('a busy service', function () {
  this.timeout(20_000);

  it('refuses at once what it has no place for, first of the webhook that waits with most', async () => {
    await withTransforms({ ...QUICK, places: 10 }, async (transforms) => {
      const flood = Array.from({ length: 30 }, () =>
        transforms.run(flooding, REQUEST).then(
          () => 'ok',
          (error) => `${error.code} ${error.retryAfterSeconds}`,
        ),
      );
      const other = await transforms.run(innocent, REQUEST);
      expect(other.event).to.include({ name: 'fine' });
      const answers = Object.groupBy(await Promise.all(flood), (answer) => answer);
      expect(answers['overloaded 1']).to.have.length(21);
      expect(answers.ok).to.have.length(9);
    });
  });

  it('lets a quick transform pass a flood of slow ones', async () => {
    await withTransforms({ timeoutMs: 5_000 }, async (transforms) => {
      const slow = returning('const end = Date.now() + 100; while (Date.now() < end); return {}');
      for (let i = 0; i < 5; i += 1) await transforms.run(innocent, REQUEST);
      let open = 12;
      const flood = Promise.all(Array.from({ length: open }, () => transforms.run(slow, REQUEST).then(() => open--)));
      for (let i = 0; i < 3; i += 1) await transforms.run(innocent, REQUEST);
      expect(open).to.be.greaterThan(6);
      await flood;
    });
  });

  it('answers a request whose turn does not come', async () => {
    await withTransforms({ timeoutMs: 5_000, threads: 1, patienceMs: 300 }, async (transforms) => {
      const loop = returning('while (true);');
      const errors = await Promise.all([1, 2].map(() => refusal(transforms.run(loop, REQUEST))));
      expect(errors.map(({ code }) => code)).to.deep.equal(['overloaded', 'overloaded']);
    });
  });
});
