import { expect } from 'chai';
import { type GiveBack, MemoryRoom } from '../../src/model/capacity/memory-room.ts';

describe('Memory for large things', () => {
  const LIMITS = { bytes: 100, bytesOfGroup: 60, waitingOfGroup: 2 };
  const take = (room: MemoryRoom, group: string, bytes: number) => room.wait(group, bytes, 1);

  it('is bounded in all and for each group, and is given back once', async () => {
    const room = new MemoryRoom(LIMITS);
    const first = (await take(room, 'a', 60)) as GiveBack;
    expect(await take(room, 'a', 1)).to.equal(undefined);
    expect(await take(room, 'b', 41)).to.equal(undefined);
    const second = (await take(room, 'b', 40)) as GiveBack;
    first();
    first();
    expect(await take(room, 'c', 61), 'more than a group may have').to.be.a('function');
    expect(await take(room, 'd', 1)).to.equal(undefined);
    second();
    expect(await take(room, 'd', 40)).to.be.a('function');
  });

  it('goes to those who wait in their order, past those whose group has too much', async () => {
    const room = new MemoryRoom(LIMITS);
    const given: string[] = [];
    const waitFor = (name: string, group: string, bytes: number) =>
      room.wait(group, bytes).then((giveBack) => {
        given.push(name);
        return giveBack as GiveBack;
      });
    const settle = () => new Promise(setImmediate);
    const giveBack = await room.wait('a', 60);
    const waits = [
      waitFor('more of a', 'a', 10),
      waitFor('b', 'b', 30),
      waitFor('large', 'c', 50),
      waitFor('d', 'd', 5),
    ];
    await settle();
    expect(given).to.deep.equal(['b']);
    giveBack?.();
    await settle();
    expect(given, 'a large one is not overtaken').to.deep.equal(['b', 'more of a', 'large', 'd']);
    for (const wait of waits) (await wait)();
    expect(await take(room, 'a', 60)).to.be.a('function');
  });

  it('is waited for only so long, by one who then holds up nobody', async () => {
    const room = new MemoryRoom(LIMITS);
    await room.wait('a', 60);
    const large = room.wait('b', 50, 1);
    const small = room.wait('c', 40);
    expect(await large).to.equal(undefined);
    expect(await small).to.be.a('function');
  });

  it('is waited for by a few of each group; more are refused at once, unless they have no time', async () => {
    const room = new MemoryRoom(LIMITS);
    const giveBack = await room.wait('a', 60);
    const waiting = [room.wait('a', 10, 60_000), room.wait('a', 10, 60_000), room.wait('a', 10)];
    expect(await room.wait('a', 1, 60_000)).to.equal(undefined);
    expect(await room.wait('b', 40, 60_000)).to.be.a('function');
    giveBack?.();
    for (const given of await Promise.all(waiting)) expect(given).to.be.a('function');
  });
});
