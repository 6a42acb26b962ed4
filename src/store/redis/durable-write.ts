/** What writers wait for before they acknowledge. */
import { AsyncLocalStorage } from 'node:async_hooks';

/** Resolves when the write is as durable as promised. @throws ServiceError unavailable */
export type OnDisk = () => Promise<void>;
export const NOTHING: OnDisk = async () => {};
export interface Durability {
  /** A replica may take over, and has what is promised. */
  isReplicated: boolean;
  /** Called before events are written.
   *  @param partition that they are written to
   *  @throws ServiceError unavailable when nothing can be promised */
  begin(partition: number): Promise<OnDisk>;
  /** Resolves once all that `work` has written is as durable as promised. Where a replica may take over, one server has answered all that `work`
   *  has read and written in a partition, and still has it.
   *  @param work to be repeated when this fails
   *  @param scope whether it counts what `work` uses of the installation's own keys, such as channels of live updates
   *  @throws ServiceError unavailable, or what `work` throws */
  during<T>(work: () => Promise<T>, scope: 'partitions' | 'all'): Promise<T>;
  /** Within `during`, does `work` once all is durable; elsewhere, or where no replica may take over, at once. */
  afterwards(work: () => Promise<unknown>): Promise<void>;
  close(): void;
}

/** What pieces of work leave to be done when they are durable. */
export class Afterwards {
  readonly #left = new AsyncLocalStorage<(() => Promise<unknown>)[]>();

  /** Does what `piece` has left when it is done. */
  async around<T>(piece: () => Promise<T>): Promise<T> {
    const left: (() => Promise<unknown>)[] = [];
    const done = await this.#left.run(left, piece);
    await Promise.all(left.map((work) => work()));
    return done;
  }

  async leave(work: () => Promise<unknown>): Promise<void> {
    const left = this.#left.getStore();
    if (left) left.push(work);
    else await work();
  }
}
