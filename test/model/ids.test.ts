import { expect } from 'chai';
import fc from 'fast-check';
import { decodeTime } from 'ulid';
import { derivedId, ID_PATTERN, newId, parseSeed, seededId } from '../../src/model/ids.ts';

describe('Internal IDs', () => {
  it('are ULIDs with the time of their creation', () => {
    // Later than any ID of this process: those never go back in time.
    const at = Date.now() + 1_000;
    const id = newId(at);
    expect(id).to.match(ID_PATTERN);
    expect(decodeTime(id)).to.equal(at);
  });

  it('from a seed are deterministic, have its time, and differ per event', () => {
    const seed = parseSeed(`1700000000000,${Buffer.alloc(10, 7).toString('base64')}`);
    if (!seed) throw new Error('no seed');
    expect(seededId(seed, 1)).to.equal(seededId(seed, 1));
    expect(seededId(seed, 1)).not.to.equal(seededId(seed, 2));
    expect(decodeTime(seededId(seed, 3))).to.equal(1_700_000_000_000);
  });

  it('from a seed add the index of the event to the last four bytes, with wrap-around', () => {
    const zeros = parseSeed(`0,${Buffer.alloc(10).toString('base64')}`);
    const full = parseSeed(`0,${Buffer.from('000000000000ffffffff', 'hex').toString('base64')}`);
    if (!zeros || !full) throw new Error('no seed');
    expect(seededId(zeros, 1)).to.equal('00000000000000000000000001');
    expect(seededId(zeros, 32)).to.equal('00000000000000000000000010');
    expect(seededId(full, 1)).to.equal('00000000000000000000000000');
  });

  it('reject seeds other than milliseconds and ten bytes', () => {
    for (const header of [
      '',
      'x',
      '1700000000000',
      '1700000000000,',
      '1,AAAA',
      'x,AAAAAAAAAAAAAA==',
      '999999999999999,AAAAAAAAAAAAAA==',
    ]) {
      expect(parseSeed(header), header).to.equal(undefined);
    }
  });

  it('derived from the same parent and parts are equal, and otherwise differ', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        const parent = '01M7Z7A7B6FJ7DZJVGC757486T';
        expect(derivedId(parent, 'run', a)).to.equal(derivedId(parent, 'run', a));
        if (a !== b) expect(derivedId(parent, 'run', a)).not.to.equal(derivedId(parent, 'run', b));
      }),
    );
  });
});
