/** What writers wait for before they acknowledge. */

/** Resolves when the write is as durable as promised. @throws ServiceError unavailable */
export type OnDisk = () => Promise<void>;
export const NOTHING: OnDisk = async () => {};
export interface Durability {
  /** Called before events are written.
   *  @param partition that they are written to; undefined: any
   *  @throws ServiceError unavailable when nothing can be promised */
  begin(partition?: number): Promise<OnDisk>;
  close(): void;
}
