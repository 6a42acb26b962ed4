import { expect } from 'chai';
import { MemoryBudget, type Release } from '../../src/model/capacity/memory-budget.ts';

describe('Memory for large objects', () => {
  const LIMITS = { bytes: 100, bytesOfGroup: 60, waitingOfGroup: 2 };
  const take = (budget: MemoryBudget, group: string, bytes: number) => budget.reserve(group, bytes, 1);

  it('is bounded in all and for each group, and is released once', async () => {
    const budget = new MemoryBudget(LIMITS);
    const first = (await take(budget, 'a', 60)) as Release;
    expect(await take(budget, 'a', 1)).to.equal(undefined);
    expect(await take(budget, 'b', 41)).to.equal(undefined);
    const second = (await take(budget, 'b', 40)) as Release;
    first();
    first();
    expect(await take(budget, 'c', 61), 'more than a group may have').to.be.a('function');
    expect(await take(budget, 'd', 1)).to.equal(undefined);
    second();
    expect(await take(budget, 'd', 40)).to.be.a('function');
  });

  it('goes to those who wait in their order, past those whose group has too much', async () => {
    const budget = new MemoryBudget(LIMITS);
    const given: string[] = [];
    const waitFor = (name: string, group: string, bytes: number) =>
      budget.reserve(group, bytes).then((release) => {
        given.push(name);
        return release as Release;
      });
    const settle = () => new Promise(setImmediate);
    const release = await budget.reserve('a', 60);
    const waits = [
      waitFor('more of a', 'a', 10),
      waitFor('b', 'b', 30),
      waitFor('large', 'c', 50),
      waitFor('d', 'd', 5),
    ];
    await settle();
    expect(given).to.deep.equal(['b']);
    release?.();
    await settle();
    expect(given, 'a large one is not overtaken').to.deep.equal(['b', 'more of a', 'large', 'd']);
    for (const wait of waits) (await wait)();
    expect(await take(budget, 'a', 60)).to.be.a('function');
  });

  it('is waited for only so long, by one who then holds up nobody', async () => {
    const budget = new MemoryBudget(LIMITS);
    await budget.reserve('a', 60);
    const large = budget.reserve('b', 50, 1);
    const small = budget.reserve('c', 40);
    expect(await large).to.equal(undefined);
    expect(await small).to.be.a('function');
  });

  it('is waited for by a few of each group; more are refused at once, unless they have no time', async () => {
    const budget = new MemoryBudget(LIMITS);
    const release = await budget.reserve('a', 60);
    const waiting = [budget.reserve('a', 10, 60_000), budget.reserve('a', 10, 60_000), budget.reserve('a', 10)];
    expect(await budget.reserve('a', 1, 60_000)).to.equal(undefined);
    expect(await budget.reserve('b', 40, 60_000)).to.be.a('function');
    release?.();
    for (const given of await Promise.all(waiting)) expect(given).to.be.a('function');
  });
});
