import { expect } from 'chai';
import { SealError, Sealer } from '../../src/model/auth/seal.ts';

const [OLD, NEW] = ['the former secret of the service', 'the present secret of the service'];

describe('Sealer', () => {
  it('opens what it sealed, and never produces the same ciphertext twice', () => {
    const sealer = new Sealer(NEW, undefined);
    const [one, two] = [sealer.seal('ключ', 'here'), sealer.seal('ключ', 'here')];
    expect(one).not.to.equal(two);
    expect([one, two].map((sealed) => sealer.open(sealed, 'here'))).to.deep.equal(['ключ', 'ключ']);
  });

  it('rejects another location, a changed text, and another secret', () => {
    const sealed = new Sealer(NEW, undefined).seal('key', 'here');
    // In the middle: the last base64 character can have unused bits.
    const middle = Math.floor(sealed.length / 2);
    const changed = sealed.slice(0, middle) + (sealed[middle] === 'A' ? 'B' : 'A') + sealed.slice(middle + 1);
    expect(() => new Sealer(NEW, undefined).open(sealed, 'there')).to.throw(SealError);
    expect(() => new Sealer(NEW, undefined).open(changed, 'here')).to.throw(SealError);
    expect(() => new Sealer(OLD, undefined).open(sealed, 'here')).to.throw(SealError, /SECRET_KEY/);
    expect(() => new Sealer(NEW, undefined).open('v1', 'here')).to.throw(SealError);
  });

  it('opens with the previous secret too, and seals with the current one', () => {
    const old = new Sealer(OLD, undefined).seal('key', 'here');
    const sealer = new Sealer(NEW, OLD);
    expect(sealer.open(old, 'here')).to.equal('key');
    expect([sealer.isCurrent(old), sealer.isCurrent(sealer.seal('key', 'here'))]).to.deep.equal([false, true]);
  });
});
