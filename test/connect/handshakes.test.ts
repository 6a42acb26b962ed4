import { expect } from 'chai';
import { Handshakes } from '../../src/api/connect/handshakes.ts';

const LIMITS = { max: 6, ofAddressMax: 3, maxBytes: 100, helloMs: 5, totalMs: 10 };

describe('WebSockets of apps that have not authenticated yet', () => {
  let handshakes: Handshakes<string>;
  beforeEach(() => {
    handshakes = new Handshakes(LIMITS);
  });
  const begin = (name: string, address: string, nowMs = 0) => handshakes.begin(name, address, nowMs);

  it('lose their oldest to the next one when an address has too many', () => {
    expect(['a', 'b', 'c', 'd', 'e'].map((name) => begin(name, '192.0.2.1'))).to.deep.equal([
      ...[undefined, undefined, undefined],
      ...['a', 'b'],
    ]);
    expect(begin('other', '192.0.2.2')).to.equal(undefined);
    expect(handshakes.all).to.deep.equal(['c', 'd', 'e', 'other']);
  });

  it('share one address within an IPv6 /64 network', () => {
    for (const host of [1, 2, 3]) expect(begin(`${host}`, `2001:db8::${host}`)).to.equal(undefined);
    expect(begin('4', '2001:db8::4')).to.equal('1');
  });

  it('lose the oldest of the address with the most when there are too many in all', () => {
    for (const [name, address] of [
      ['alone', '1'],
      ['many 1', '2'],
      ['many 2', '2'],
      ['many 3', '2'],
      ['two 1', '3'],
      ['two 2', '3'],
    ] as const)
      expect(begin(name, `192.0.2.${address}`)).to.equal(undefined);
    expect(begin('new', '192.0.2.4')).to.equal('many 1');
    expect(begin('newer', '192.0.2.5')).to.equal('many 2');
  });

  it('never displace an authenticated connection', () => {
    begin('app', '192.0.2.1');
    handshakes.authenticate('app');
    for (let i = 0; i < 10; i++) expect(begin(`${i}`, '192.0.2.1')).not.to.equal('app');
    expect(handshakes.all).to.include('app');
  });

  it('lose the connection that has sent most when all together have sent too much', () => {
    begin('large', '192.0.2.1');
    begin('small', '192.0.2.2');
    expect(handshakes.receive('large', 90)).to.equal(undefined);
    expect(handshakes.receive('small', 10)).to.equal(undefined);
    expect(handshakes.receive('small', 1)).to.equal('large');
    expect(handshakes.receive('small', 80)).to.equal(undefined);
  });

  it('have little time for the first message, and more for the registration', () => {
    for (const [i, name] of ['idle', 'greeted', 'registering', 'done'].entries()) begin(name, `192.0.2.${i}`);
    for (const name of ['greeted', 'registering']) handshakes.greeted(name);
    handshakes.authenticate('registering');
    handshakes.end('done');
    expect(handshakes.takeOverdue(5)).to.deep.equal([]);
    expect(handshakes.takeOverdue(6)).to.deep.equal(['idle']);
    expect(handshakes.takeOverdue(10)).to.deep.equal([]);
    expect(handshakes.takeOverdue(11)).to.deep.equal(['greeted', 'registering']);
    expect(handshakes.all).to.deep.equal([]);
  });
});
