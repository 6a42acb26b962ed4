import { once } from 'node:events';
import { Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { coalesceWrites } from '../../src/store/redis/connection/write-coalescing.ts';

describe('Write coalescing of a connection', () => {
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

  it('sends the writes of one turn of the event loop together, in order, at its end', async () => {
    stream.write('a');
    await Promise.resolve();
    stream.write(Buffer.from('b'));
    expect(packets).to.deep.equal([]);
    await setImmediate();
    expect(packets).to.deep.equal(['ab']);
  });

  it('sends the writes of the next turn with that turn', async () => {
    stream.write('a');
    await setImmediate();
    stream.write('b');
    stream.write('c');
    await setImmediate();
    expect(packets).to.deep.equal(['a', 'bc']);
  });

  it('calls the callbacks of writes', async () => {
    const done = Promise.withResolvers<void>();
    stream.write('a', 'utf8', () => done.resolve());
    await done.promise;
    expect(packets).to.deep.equal(['a']);
  });

  it('sends buffered writes before the connection ends', async () => {
    stream.write('a');
    stream.end('b');
    await once(stream, 'finish');
    expect(packets.join('')).to.equal('ab');
    await setImmediate();
  });

  it('drops buffered writes of a connection that broke', async () => {
    stream.write('a');
    stream.destroy();
    await setImmediate();
    expect(packets).to.deep.equal([]);
  });
});
