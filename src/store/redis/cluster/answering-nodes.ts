/** Tracks which cluster node received the commands of each hash slot, over all connections of this process. While a primary is being
 *  replaced, some commands of one piece of work may be answered by it and others by its successor: a hung primary answers earlier
 *  commands before it learns of its replacement, and a connection may assume that it owns its hash slots again. Its writes are then lost
 *  and its reads are stale. So work counts only if, for each hash slot, one node answered all of it (cluster-durability.ts). */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Redis } from '../connection/connection.ts';
import { addressOf, onEachServer } from '../connection/servers.ts';

interface Answering {
  address: string;
  /** Number of the change of nodes; 0: unchanged since the first command. */
  since: number;
}

type Send = (command: { getSlot?: () => number | null }, ...rest: unknown[]) => unknown;

export class AnsweringNodes {
  readonly #byHashSlot = new Map<number, Answering>();
  readonly #used = new AsyncLocalStorage<Set<number>>();
  #changes = 0;

  /** Tracks the commands of a connection. */
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

  /** Number of changes so far. */
  get changes(): number {
    return this.#changes;
  }

  /** Adds the hash slots of all commands sent by `work` to `hashSlots`. */
  watch<T>(hashSlots: Set<number>, work: () => Promise<T>): Promise<T> {
    return this.#used.run(hashSlots, work);
  }

  /** The node that received all commands of the hash slot since a change number; undefined if there were several. */
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
