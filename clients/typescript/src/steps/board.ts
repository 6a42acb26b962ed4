/** The steps that a replay has found so far, and the memos to deliver to them. */
import { AsyncResource } from 'node:async_hooks';
import type { FoundStep, StepDescription } from './found.ts';
import { hashStepId, numberRepeats } from './ids.ts';
import { deliver, type Memo, type Memos } from './memo.ts';
import { isRacing } from './race.ts';
import { refuseNesting } from './run.ts';

export interface Board {
  /** Registers the step. Resolves when its memo is delivered; never resolves if that is not in this call. */
  find(description: StepDescription): Promise<unknown>;
  get(hashedId: string): FoundStep | undefined;
  /** Gives the step a memo in this call. */
  finish(step: FoundStep, memo: Memo): void;
  memoOf(hashedId: string): Memo | undefined;
  /** Delivers one memo: the earliest completed memo whose step has been found; false: there is no such memo.
   *  This order, one at a time, gives `Promise.race` the same winner in every replay. Rejects if the memo cannot be decoded. */
  deliverNext(): Promise<boolean>;
  /** Found but unfinished steps, in order. */
  pending(): FoundStep[];
  /** Whether a step of a race is unfinished. A step outside of race mode would then wait for it. */
  racing(): boolean;
  /** Whether the code still replays earlier calls. */
  replaying(): boolean;
}

/** Turns a memo from the service into what its step resolves to. */
export type DecodeMemo = (step: FoundStep, memo: Memo) => Promise<Memo>;

/** @param order hashed IDs of the finished steps, in order of completion */
export function createBoard(
  given: Memos,
  order: readonly string[],
  onFound: () => void,
  decode: DecodeMemo | undefined,
): Board {
  const memos: Record<string, Memo> = { ...given };
  const found = new Map<string, FoundStep>();
  const nameOf = numberRepeats();
  /** Memos that are not in `order` come last. */
  const undelivered = new Set([...order, ...Object.keys(memos)].filter((id) => Object.hasOwn(memos, id)));

  return {
    async find({ id, name = id, opts = {}, kind, run }) {
      refuseNesting(id);
      const race = isRacing();
      const inContext = AsyncResource.bind(<T>(fn: () => T): T => fn());
      const displayName = nameOf(id);
      const hashedId = hashStepId(displayName);
      const promise = new Promise<unknown>((resolve, reject) => {
        const step = { kind, hashedId, displayName, name, opts, run, inContext, race, delivered: false };
        found.set(hashedId, { ...step, resolve, reject });
      });
      onFound();
      return promise;
    },
    get: (hashedId) => found.get(hashedId),
    finish(step, memo) {
      memos[step.hashedId] = memo;
      undelivered.add(step.hashedId);
    },
    memoOf: (hashedId) => (Object.hasOwn(memos, hashedId) ? memos[hashedId] : undefined),
    async deliverNext() {
      for (const hashedId of undelivered) {
        const step = found.get(hashedId);
        if (!step) continue;
        const memo = memos[hashedId] ?? null;
        const decoded = decode ? await decode(step, memo) : memo;
        undelivered.delete(hashedId);
        step.delivered = true;
        deliver(step, decoded);
        return true;
      }
      return false;
    },
    pending: () => [...found.values()].filter(({ delivered }) => !delivered),
    racing: () => [...found.values()].some(({ race, hashedId }) => race && !Object.hasOwn(memos, hashedId)),
    replaying: () => undelivered.size > 0,
  };
}
