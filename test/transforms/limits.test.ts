import { expect } from 'chai';
import { edited, errorOf, QUICK, REQUEST, returning, shared, webhook, withTransforms } from './support.ts';

const flooding = returning('return { name: "flood" }');
const harmless = webhook('const transform = (evt) => ({ name: "fine", data: evt })');

/** No timeout inside the isolate can stop this code: the parent has to kill the child process. */
const STUCK = 'return { found: new Array(2 ** 32 - 2).indexOf(1) }';

describe('A transform that does not end', () => {
  const transforms = shared(QUICK);

  for (const [what, body] of [
    ['loops forever', 'while (true);'],
    ['backtracks forever', 'return { m: /^(a+)+$/.test("a".repeat(40) + "b") }'],
    ['chains microtasks forever', 'return (async () => { while (true) await null })()'],
    ['waits for a promise that never settles', 'return new Promise(() => {})'],
    ['is stuck inside the engine', STUCK],
  ] as const) {
    it(`is stopped when it ${what}, and other transforms run`, async () => {
      const error = await errorOf(transforms.run(returning(body)));
      expect(error.code).to.equal('transform_failed');
      expect(error.message).to.contain('ran longer than 250 ms');
      expect((await transforms.run(harmless)).returned).to.include({ name: 'fine' });
    });
  }

  it('is stopped when the code around the function does not end', async () => {
    const error = await errorOf(transforms.run(webhook('for (;;);\nfunction transform() {}')));
    expect(error.message).to.contain('ran longer than 250 ms');
  });

  it('does not delay other webhooks when some of its requests loop', async () => {
    await withTransforms({ ...QUICK, threads: 1 }, async (transforms) => {
      const sometimes = returning('if (evt.loop) while (true); return { name: "quick" }');
      await transforms.run(sometimes, REQUEST);
      const loops = Array.from({ length: 8 }, () =>
        errorOf(transforms.run(sometimes, { ...REQUEST, body: { loop: true } })),
      );
      const order: string[] = [];
      const all = Promise.all(loops).then(() => order.push('loops'));
      await transforms.run(harmless, REQUEST).then(() => order.push('harmless'));
      await all;
      expect(order).to.deep.equal(['harmless', 'loops']);
    });
  });

  it('does not block its other requests when one request of a batch loops', async () => {
    const sometimes = returning('if (evt.loop) while (true); return { n: evt.n }');
    for (let n = 0; n < 50; n += 1) await transforms.run(sometimes, REQUEST);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 12 }, (_, n) => transforms.run(sometimes, { ...REQUEST, body: { n, loop: n === 5 } })),
    );
    outcomes.forEach((outcome, n) => {
      if (n === 5) expect(outcome.status).to.equal('rejected');
      else expect((outcome as PromiseFulfilledResult<{ returned: unknown }>).value.returned).to.deep.equal({ n });
    });
  });
});

describe('A transform that uses too much memory', () => {
  const BOMBS = [
    'return { n: Array(1e9).fill(0).length }',
    'return { n: "x".repeat(5e8).split("").length }',
    'const map = new Map(); for (let i = 0; ; i++) map.set(i, { i })',
  ];

  it('fails, while every request of another webhook succeeds', async () => {
    await withTransforms({ timeoutMs: 700, graceMs: 200, totalTimeoutMs: 20_000 }, async (transforms, lines) => {
      const bombs = BOMBS.map(returning);
      const exploded = Promise.all(bombs.map((bomb) => errorOf(transforms.run(bomb, REQUEST))));
      const fine = await Promise.all(
        Array.from({ length: 50 }, (_, n) => transforms.run(harmless, { ...REQUEST, body: { n } })),
      );
      expect(fine.map(({ returned: event }) => event)).to.deep.equal(
        Array.from({ length: 50 }, (_, n) => ({ name: 'fine', data: { n } })),
      );
      for (const error of await exploded) {
        expect(error.code).to.equal('transform_failed');
        expect(error.message).to.match(/used too much memory and was stopped|ran longer than 700 ms/);
      }
      const stopped = lines.filter(({ msg }) => msg.includes('transform stopped')).map(({ webhook }) => webhook);
      expect(stopped).to.have.members(bombs.map(({ id }) => id));
    });
  });

  it('fails with an error that says so', async () => {
    await withTransforms({ timeoutMs: 15_000, totalTimeoutMs: 20_000 }, async (transforms) => {
      const error = await errorOf(transforms.run(returning('return { n: "x".repeat(5e8).split("").length }'), REQUEST));
      expect(error.message).to.contain('used too much memory and was stopped');
    });
  });

  it('does not fail other requests of its own webhook', async () => {
    await withTransforms({ timeoutMs: 5_000, totalTimeoutMs: 20_000 }, async (transforms) => {
      const sometimes = returning('return { n: evt.heavy ? "x".repeat(5e8).split("").length : 1 }');
      await transforms.run(sometimes, REQUEST);
      const heavy = errorOf(transforms.run(sometimes, { ...REQUEST, body: { heavy: true } }));
      const light = await Promise.all(Array.from({ length: 10 }, () => transforms.run(sometimes, REQUEST)));
      expect(light.map(({ returned: event }) => event)).to.deep.equal(Array(10).fill({ n: 1 }));
      expect((await heavy).code).to.equal('transform_failed');
    });
  });
});

describe('Quarantine of a transform', () => {
  const transforms = shared(QUICK);
  const loop = () => returning('if (evt.fine) return {}; while (true);');

  it('begins with the third stop within a minute, rejects at once and is logged', async () => {
    const bad = loop();
    for (let i = 0; i < 3; i += 1) {
      expect((await errorOf(transforms.run(bad))).code).to.equal('transform_failed');
    }
    const error = await errorOf(transforms.run(bad));
    expect(error.code).to.equal('transform_quarantined');
    expect(error.status).to.equal(503);
    expect(error.retryAfterSeconds).to.be.within(58, 60);
    const warnings = transforms
      .lines()
      .filter(({ level, webhook }) => level === 40 && webhook === bad.id)
      .map(({ msg }) => msg);
    expect(warnings).to.deep.equal([
      'transform stopped',
      'transform stopped',
      'transform stopped',
      'transform quarantined',
    ]);
  });

  it('also rejects queued requests', async () => {
    const bad = loop();
    const errors = await Promise.all(Array.from({ length: 20 }, () => errorOf(transforms.run(bad))));
    const codes = Object.groupBy(errors, ({ code }) => code);
    expect(codes.transform_failed).to.have.length(3);
    expect(codes.transform_quarantined).to.have.length(17);
  });

  it('ends at once when the code is edited', async () => {
    const bad = loop();
    for (let i = 0; i < 3; i += 1) await errorOf(transforms.run(bad));
    expect((await errorOf(transforms.run(bad))).code).to.equal('transform_quarantined');
    const good = edited(bad, 'const transform = () => ({ name: "fixed" })');
    expect((await transforms.run(good)).returned).to.deep.equal({ name: 'fixed' });
  });

  it('ends after a minute', async () => {
    let laterMs = 0;
    await withTransforms({ ...QUICK, now: () => performance.now() + laterMs }, async (transforms) => {
      const bad = loop();
      for (let i = 0; i < 3; i += 1) await errorOf(transforms.run(bad, REQUEST));
      expect((await errorOf(transforms.run(bad, REQUEST))).code).to.equal('transform_quarantined');
      laterMs = 61_000;
      expect((await transforms.run(bad, { ...REQUEST, body: { fine: true } })).returned).to.deep.equal({});
    });
  });

  it('also applies to a check of code that was stopped before', async () => {
    const code = 'while (true);';
    for (let i = 0; i < 3; i += 1) {
      expect((await errorOf(transforms.check(code))).code).to.equal('transform_invalid');
    }
    expect((await errorOf(transforms.check(code))).code).to.equal('transform_quarantined');
    await transforms.check('function transform() {}');
  });
});

describe('A full queue of transforms', () => {
  it('rejects requests at once, first those of the webhook with the most queued requests', async () => {
    await withTransforms({ ...QUICK, queueLimit: 10 }, async (transforms) => {
      const flood = Array.from({ length: 30 }, () =>
        transforms.run(flooding, REQUEST).then(
          () => 'ok',
          (error) => `${error.code} ${error.retryAfterSeconds}`,
        ),
      );
      const other = await transforms.run(harmless, REQUEST);
      expect(other.returned).to.include({ name: 'fine' });
      const outcomes = Object.groupBy(await Promise.all(flood), (outcome) => outcome);
      expect(outcomes['overloaded 1']).to.have.length(21);
      expect(outcomes.ok).to.have.length(9);
    });
  });

  it('lets a fast transform overtake many slow ones', async () => {
    await withTransforms({ timeoutMs: 5_000 }, async (transforms) => {
      const slow = returning('const end = Date.now() + 100; while (Date.now() < end); return {}');
      for (let i = 0; i < 5; i += 1) await transforms.run(harmless, REQUEST);
      let open = 12;
      const flood = Promise.all(Array.from({ length: open }, () => transforms.run(slow, REQUEST).then(() => open--)));
      for (let i = 0; i < 3; i += 1) await transforms.run(harmless, REQUEST);
      expect(open).to.be.greaterThan(6);
      await flood;
    });
  });

  it('rejects a request with 503 when its total timeout ends first', async () => {
    await withTransforms({ timeoutMs: 5_000, threads: 1, totalTimeoutMs: 300 }, async (transforms) => {
      const loop = returning('while (true);');
      const errors = await Promise.all([1, 2].map(() => errorOf(transforms.run(loop, REQUEST))));
      expect(errors.map(({ code }) => code)).to.deep.equal(['overloaded', 'overloaded']);
      for (const { message } of errors) expect(message).to.include('had no result within 0.3 s');
    });
  });
});
