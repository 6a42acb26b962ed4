/** Durability of writes: what writers wait for before they acknowledge. */
import { AsyncLocalStorage } from 'node:async_hooks';

/** Resolves when the write has the configured durability. @throws ServiceError unavailable */
export type OnDisk = () => Promise<void>;
export const NOTHING: OnDisk = async () => {};
export interface Durability {
  /** Whether a replica may take over and the guarantee covers it. */
  isReplicated: boolean;
  /** Call before writing events.
   *  @param partition that they are written to
   *  @throws ServiceError unavailable if durability cannot be guaranteed */
  begin(partition: number): Promise<OnDisk>;
  /** Resolves once all writes of `work` have the configured durability. If a replica may take over, one server must have answered all reads and
   *  writes of `work` in a partition, and still own it.
   *  @param work is repeated by the caller if this fails
   *  @param scope whether the installation's own keys count, such as channels of live updates @throws ServiceError unavailable, or the error of
   *  `work` */
  during<T>(work: () => Promise<T>, scope: 'partitions' | 'all'): Promise<T>;
  /** Inside `during`, runs `work` once everything is durable; otherwise, or if no replica may take over, immediately. */
  afterwards(work: () => Promise<unknown>): Promise<void>;
  close(): void;
}

/** Collects work that must wait until a piece of work is durable. */
export class Afterwards {
  readonly #left = new AsyncLocalStorage<(() => Promise<unknown>)[]>();

  /** Runs the collected work after `piece`. */
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
