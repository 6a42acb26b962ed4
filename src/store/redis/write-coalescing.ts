/** What a connection is told in one turn of the event loop, as one write: a hundred calls of functions that are under way at once are three
 *  hundred short commands, and to hand each to the system by itself took a tenth of a worker's time. */
import type { Writable } from 'node:stream';

/** From now on what is written to the stream is held back until the end of the turn, or until the stream is ended. */
export function coalesceWrites(stream: Writable): void {
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
  let gathering = false;
  const release = () => {
    gathering = false;
    stream.uncork();
  };
  stream.write = (...args: unknown[]) => {
    if (!gathering) {
      gathering = true;
      stream.cork();
      setImmediate(release);
    }
    return write(...args);
  };
}
