/** Which node of a cluster gets the commands of each hash slot, over all connections of this process.
 *
 *  While a primary is replaced, some commands of one piece of work may be answered by it and others by its successor: it may hang and answer what it was
 *  sent before it learns that it was replaced, and a connection may believe that it has its hash slots again. What it is told then is lost, and what
 *  it says is old. So work counts only where one node has answered all of it, hash slot by hash slot (cluster-durability.ts). */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Redis } from './connection.ts';
import { addressOf, onEachServer } from './servers.ts';

interface Answering {
  address: string;
  /** Number of the change that made it so; 0: it has been so since the first command. */
  since: number;
}

type Send = (command: { getSlot?: () => number | null }, ...rest: unknown[]) => unknown;

export class AnsweringNodes {
  readonly #byHashSlot = new Map<number, Answering>();
  readonly #used = new AsyncLocalStorage<Set<number>>();
  #changes = 0;

  /** Follows the commands of a connection. */
  follow(redis: Redis): void {
    onEachServer(redis, (server) => {
      const address = addressOf(server);
      const sender = server as unknown as { sendCommand: Send };
      const send = sender.sendCommand.bind(server) as Send;
      sender.sendCommand = (command, ...rest) => {
        const hashSlot = command.getSlot?.();
        if (typeof hashSlot === 'number') this.#note(hashSlot, address);
        return send(command, ...rest);
      };
    });
  }

  /** Changes so far. */
  get changes(): number {
    return this.#changes;
  }

  /** Adds the hash slots of all commands that `work` sends to `hashSlots`. */
  watch<T>(hashSlots: Set<number>, work: () => Promise<T>): Promise<T> {
    return this.#used.run(hashSlots, work);
  }

  /** The node that has got all commands of the hash slot since a number of changes; undefined: several have. */
  sameSince(hashSlot: number, changes: number): string | undefined {
    const answering = this.#byHashSlot.get(hashSlot);
    return answering && answering.since <= changes ? answering.address : undefined;
  }

  #note(hashSlot: number, address: string): void {
    this.#used.getStore()?.add(hashSlot);
    const answering = this.#byHashSlot.get(hashSlot);
    if (!answering) this.#byHashSlot.set(hashSlot, { address, since: 0 });
    else if (answering.address !== address) this.#byHashSlot.set(hashSlot, { address, since: ++this.#changes });
  }
}
