import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { CoalescedRead } from '../../src/store/redis/caching/coalesced-read.ts';

/** Longer than a burst takes. */
const INTERVAL_MS = 1_000;
/** How many reads may start at once. */
const BURST = 20;

describe('Coalesced reads', () => {
  it('do not delay single callers until they become a flood', async () => {
    let reads = 0;
    const value = new CoalescedRead(async () => ++reads, INTERVAL_MS);
    for (let n = 1; n <= BURST; n++) expect(await value.get()).to.equal(n);
    const late = value.get();
    expect(await Promise.race([late, setImmediate('waits')])).to.equal('waits');
    expect(reads).to.equal(BURST);
    expect(await late).to.equal(BURST + 1);
  });

  it('are shared by callers that come during a read, and begin after each caller has asked', async () => {
    const begun: (() => void)[] = [];
    const value = new CoalescedRead(() => new Promise<number>((done) => begun.push(() => done(begun.length))));
    const first = value.get();
    await setImmediate();
    const others = Array.from({ length: 600 }, () => value.get());
    await setImmediate();
    expect(begun).to.have.length(1);
    begun[0]?.();
    expect(await first).to.equal(1);
    await setImmediate();
    begun[1]?.();
    expect(new Set(await Promise.all(others))).to.deep.equal(new Set([2]));
  });
});
