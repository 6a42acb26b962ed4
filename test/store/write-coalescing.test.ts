import { once } from 'node:events';
import { Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { coalesceWrites } from '../../src/store/redis/write-coalescing.ts';

describe('writes to a connection', () => {
  let packets: string[];
  let stream: Writable;
  beforeEach(() => {
    packets = [];
    stream = new Writable({
      decodeStrings: false,
      write: (chunk, _encoding, done) => {
        packets.push(String(chunk));
        done();
      },
      writev: (chunks, done) => {
        packets.push(chunks.map(({ chunk }) => String(chunk)).join(''));
        done();
      },
    });
    coalesceWrites(stream);
  });

  it('of one turn of the event loop go out together, in order, at its end', async () => {
    stream.write('a');
    await Promise.resolve();
    stream.write(Buffer.from('b'));
    expect(packets).to.deep.equal([]);
    await setImmediate();
    expect(packets).to.deep.equal(['ab']);
  });

  it('of the next turn go out with that', async () => {
    stream.write('a');
    await setImmediate();
    stream.write('b');
    stream.write('c');
    await setImmediate();
    expect(packets).to.deep.equal(['a', 'bc']);
  });

  it('tell when they are done', async () => {
    const done = Promise.withResolvers<void>();
    stream.write('a', 'utf8', () => done.resolve());
    await done.promise;
    expect(packets).to.deep.equal(['a']);
  });

  it('are out before the end of the connection', async () => {
    stream.write('a');
    stream.end('b');
    await once(stream, 'finish');
    expect(packets.join('')).to.equal('ab');
    await setImmediate();
  });

  it('are nothing to a connection that broke meanwhile', async () => {
    stream.write('a');
    stream.destroy();
    await setImmediate();
    expect(packets).to.deep.equal([]);
  });
});
