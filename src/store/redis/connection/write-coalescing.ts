/** Coalesces the commands of one turn of the event loop into one write: a hundred concurrent calls send three hundred
 *  short commands, and a system call for each took a tenth of a worker's time. Concurrent checkpoints in web profit
 *  too. A command that is alone in its turn does not wait. */
import type { Writable } from 'node:stream';

/** Makes the stream buffer writes until the end of the turn, or until the stream ends. */
export function coalesceWrites(stream: Writable): void {
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
  let corked = false;
  const release = () => {
    corked = false;
    stream.uncork();
  };
  stream.write = (...args: unknown[]) => {
    if (!corked) {
      corked = true;
      stream.cork();
      setImmediate(release);
    }
    return write(...args);
  };
}
