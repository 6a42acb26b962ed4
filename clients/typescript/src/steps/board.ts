/** The steps that a replay has found so far, and the memos to deliver to them. */
import type { FoundStep, StepDescription } from './found.ts';
import { hashStepId, numberRepeats } from './ids.ts';
import { deliver, type Memo, type Memos } from './memo.ts';
import { isRacing } from './race.ts';
import { refuseNesting } from './run.ts';

export interface Board {
  /** Registers the step. Resolves when its memo is delivered; never resolves if that is not in this call. */
  find(description: StepDescription): Promise<unknown>;
  get(hashedId: string): FoundStep | undefined;
  memoOf(hashedId: string): Memo | undefined;
  /** Delivers one memo: the earliest completed one whose step has been found; false: there is none.
   *  This order, one at a time, gives `Promise.race` the same winner in every replay. */
  deliverNext(): boolean;
  /** Found but unfinished steps, in order. */
  pending(): FoundStep[];
  /** Whether a step of a race is unfinished. A step outside of race mode would then wait for it. */
  racing(): boolean;
  /** Whether the code still replays earlier calls. */
  replaying(): boolean;
}

/** @param order hashed IDs of the finished steps, in order of completion */
export function createBoard(memos: Memos, order: readonly string[], onFound: () => void): Board {
  const found = new Map<string, FoundStep>();
  const nameOf = numberRepeats();
  /** Memos that are not in `order` come last. */
  const undelivered = new Set([...order, ...Object.keys(memos)].filter((id) => Object.hasOwn(memos, id)));

  return {
    async find({ id, name = id, opts = {}, kind, run }) {
      refuseNesting(id);
      const race = isRacing();
      const displayName = nameOf(id);
      const hashedId = hashStepId(displayName);
      const promise = new Promise<unknown>((resolve, reject) => {
        found.set(hashedId, { kind, hashedId, displayName, name, opts, run, race, delivered: false, resolve, reject });
      });
      onFound();
      return promise;
    },
    get: (hashedId) => found.get(hashedId),
    memoOf: (hashedId) => (Object.hasOwn(memos, hashedId) ? memos[hashedId] : undefined),
    deliverNext() {
      for (const hashedId of undelivered) {
        const step = found.get(hashedId);
        if (!step) continue;
        undelivered.delete(hashedId);
        step.delivered = true;
        deliver(step, memos[hashedId] ?? null);
        return true;
      }
      return false;
    },
    pending: () => [...found.values()].filter(({ delivered }) => !delivered),
    racing: () => [...found.values()].some(({ race, hashedId }) => race && !Object.hasOwn(memos, hashedId)),
    replaying: () => undelivered.size > 0,
  };
}
