import { expect } from 'chai';
import { loadOnce } from '../../src/model/values/load-once.ts';

describe('What is loaded when it is first needed', () => {
  it('is loaded once, also for those who ask meanwhile', async () => {
    let loads = 0;
    const get = loadOnce(async () => ++loads);
    expect(get.loaded).to.equal(undefined);
    expect(await Promise.all([get(), get()])).to.deep.equal([1, 1]);
    expect(await get()).to.equal(1);
    expect(await get.loaded).to.equal(1);
  });

  it('is loaded again after it could not be loaded', async () => {
    let loads = 0;
    const get = loadOnce(async () => {
      if (++loads === 1) throw new Error('no file descriptors left');
      return loads;
    });
    const outcomes = await Promise.allSettled([get(), get()]);
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected']);
    expect(await get()).to.equal(2);
  });
});
