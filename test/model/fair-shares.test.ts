import { expect } from 'chai';
import { DeferredCalls } from '../../src/jobs/runs/admission/deferred-calls.ts';
import { AdaptiveLimit, type FinishedCall } from '../../src/model/capacity/adaptive-limit.ts';
import { type CallOwner, FairShares } from '../../src/model/capacity/fair-shares.ts';

const owner = (env: string, app: string): CallOwner => ({
  env,
  app,
  branch: env !== 'production' && env !== 'staging',
});

describe('FairShares', () => {
  const shares = (capacity = 100) => new FairShares({ capacity, appShare: 0.9, branchShare: 0.5 });
  /** As many as it may start. */
  function fill(of: FairShares, who: CallOwner): number {
    let begun = 0;
    for (; of.available(who) > 0; begun++) of.start(who);
    return begun;
  }

  it('give a single app nearly all capacity, and the next app in its environment the rest', () => {
    const of = shares();
    expect(fill(of, owner('production', 'a'))).to.equal(81);
    expect(fill(of, owner('production', 'b'))).to.equal(8);
    expect(fill(of, owner('staging', 'a'))).to.equal(8);
    expect(of.available(owner('production', 'c'))).to.be.above(0);
  });

  it('leave capacity for production, with any number of branches', () => {
    const of = shares();
    let branches = 0;
    for (let n = 0; n < 200; n++) branches += fill(of, owner(`branch-${n}`, 'a'));
    expect(branches).to.equal(50);
    expect(fill(of, owner('production', 'a'))).to.be.above(35);
  });

  it('free capacity when calls end', () => {
    const of = shares(10);
    const a = owner('production', 'a');
    const begun = fill(of, a);
    expect(of.available(a)).to.be.below(1);
    for (let n = 0; n < begun; n++) of.end(a);
    expect(fill(of, owner('production', 'b'))).to.equal(begun);
  });

  for (const capacity of [1, 2, 3, 5]) {
    it(`let an app in with a capacity of ${capacity}, and never exceed it`, () => {
      const of = shares(capacity);
      let begun = 0;
      for (let n = 0; n < 20; n++) begun += fill(of, owner(n % 2 ? 'production' : `branch-${n}`, `app-${n}`));
      expect(begun).to.be.within(1, capacity);
    });
  }

  it("do not exceed the app's own limit", () => {
    const of = shares();
    const a = owner('production', 'a');
    of.start(a);
    expect(of.available(a, 1)).to.equal(0);
    expect(of.available(a, 3)).to.equal(2);
  });
});

describe('AdaptiveLimit', () => {
  let now: number;
  let limit: AdaptiveLimit;
  beforeEach(() => {
    now = 1_000;
    limit = new AdaptiveLimit(100);
  });
  function calls(count: number, status: number | undefined, { ms = 10, functionId = 'f' } = {}): void {
    for (let n = 0; n < count; n++) {
      const call: FinishedCall = { functionId, status, startedAt: now, endedAt: now + ms };
      now += ms + 1;
      limit.record(call);
    }
  }

  for (const [what, status] of [
    ['503', 503],
    ['429', 429],
    ['nothing', undefined],
  ] as const) {
    it(`falls to one call while the app responds with ${what}, and recovers`, () => {
      calls(200, status);
      expect(limit.limit).to.equal(1);
      expect(limit.throttled?.by).to.equal('overload');
      calls(2_000, 200);
      expect(limit.limit).to.equal(100);
      expect(limit.throttled).to.equal(undefined);
    });
  }

  it('leaves a tenth to an app whose functions all fail, and everything if only a few fail', () => {
    for (let n = 0; n < 100; n++) {
      calls(1, 500);
      calls(4, 200);
    }
    expect(limit.limit).to.equal(100);
    calls(500, 500);
    expect(limit.limit).to.equal(10);
    expect(limit.throttled?.by).to.equal('errors');
  });

  it('falls when a function becomes much slower, until the new duration is usual', () => {
    calls(50, 200, { ms: 50 });
    calls(40, 200, { ms: 5_000 });
    expect(limit.throttled?.by).to.equal('latency');
    expect(limit.limit).to.be.below(100);
    calls(3_000, 200, { ms: 5_000 });
    expect(limit.limit).to.equal(100);
  });

  it('ignores functions that are always slow', () => {
    for (let n = 0; n < 100; n++) {
      calls(1, 200, { functionId: 'quick', ms: 5 });
      calls(1, 206, { functionId: 'slow', ms: 60_000 });
    }
    expect(limit.limit).to.equal(100);
  });

  it('falls only once for calls that were in flight together', () => {
    for (let n = 0; n < 100; n++) limit.record({ functionId: 'f', status: 503, startedAt: 1, endedAt: 2_000 + n });
    expect(limit.limit).to.equal(50);
  });
});

describe('Deferred calls', () => {
  const a = owner('production', 'a');
  const b = owner('production', 'b');

  it('return one after another', () => {
    const deferred = new DeferredCalls();
    const due = Array.from({ length: 1_000 }, (_, n) => deferred.defer(a, `job-${n}`, 0) as number);
    expect(due[0]).to.equal(1_000);
    expect(due).to.deep.equal(due.toSorted((x, y) => x - y));
    expect(due.at(-1)).to.be.within(9_000, 12_000);
  });

  it('return within five minutes, in any number', () => {
    const deferred = new DeferredCalls();
    const due = Array.from({ length: 50_000 }, (_, n) => deferred.defer(a, `job-${n}`, 0) as number);
    expect(Math.max(...due)).to.be.at.most(300_000);
  });

  it('return when their app has capacity; otherwise calls of another app return', () => {
    const deferred = new DeferredCalls();
    for (const id of ['a1', 'a2', 'a3']) deferred.defer(a, id, 0);
    deferred.defer(b, 'b1', 0);
    expect(deferred.takeReady(a, () => 5, 10)).to.deep.equal(['a1', 'a2']);
    expect(deferred.takeReady(a, ({ app }) => (app === 'b' ? 1 : 0), 10)).to.deep.equal(['b1']);
    expect(deferred.takeReady(a, () => 0, 10)).to.deep.equal([]);
    expect(deferred.count).to.equal(1);
  });

  it('are forgotten when they return by themselves', () => {
    const deferred = new DeferredCalls();
    deferred.defer(a, 'a1', 0);
    expect(deferred.takeReady(a, () => 5, 60_000)).to.deep.equal([]);
    expect(deferred.count).to.equal(0);
  });
});
