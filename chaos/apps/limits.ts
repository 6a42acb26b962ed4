/** The flow control of functions of the app in TypeScript, with what it and the checks of the history need. */
export const APP_ID = 'chaos-typescript';
export const functionIdOf = (id: string) => `${APP_ID}-${id}`;
/** Of every function: calls use up attempts while their app is dead or hangs. */
export const RETRIES = 10;

export const LIMITED = { id: 'limited', limit: 2, heldMs: 40 };
/** A limit for each key. */
export const KEYED = { id: 'keyed', limit: 1, heldMs: 100 };
export const THROTTLED = { id: 'throttled', limit: 2, periodMs: 1_000, burst: 1 };
export const RATE_LIMITED = { id: 'rate-limited', limit: 3, periodMs: 10_000 };
export const SINGLETON = { id: 'singleton', lastStep: 'b', sleepMs: 500 };
export const ORDERED = { id: 'ordered', name: 'chaos/ordered', lastStep: 'b', windowMs: 1_000 };
export const DEBOUNCED = { id: 'debounced', name: 'chaos/debounced', periodMs: 1_000 };
export const BATCHED = { id: 'batched', maxSize: 4, timeoutMs: 1_500 };
/** It is paused, and its queued runs held. */
export const HELD = { id: 'held', limit: 1, heldMs: 150 };
export const TICKING = { id: 'ticking', everyMs: 2_000 };
export const REPLAYED = { id: 'replayed', name: 'chaos/replayed' };
export const WAITING = { id: 'wait', startedBy: 'chaos/wait', awaited: 'chaos/go', timeoutMs: 6_000 };
/** Its runs are cancelled one by one while they sleep, run or have ended. */
export const CANCELLED = { id: 'cancelled', name: 'chaos/cancelled', sleepMs: 700 };
/** A run pauses at its second step, until somebody resumes it after this time; also whenever a call of it fails. */
export const PAUSING = { id: 'pausing', name: 'chaos/pausing', brokenMs: 3_000 };
export const RERUN_FUNCTION = functionIdOf('bulk');
/** By then a run that sleeps for longer has left Redis, if there is an archive: after its reconciliation. */
export const OFFLOADED_MS = 30_000;
/** Its runs leave Redis, and return before they wake up. */
export const LONG_SLEEP = { id: 'long-sleep', name: 'chaos/long-sleep', sleepMs: 150_000 };
/** Its runs sleep until they are cancelled. */
export const SLEEPER_FUNCTION = functionIdOf('sleeper');
/** An event whose run waits for another for longer than chaos lasts: it is stuck unless it gets the one that is sent to it. */
export const LONG_WAIT = 'chaos/long-wait';
