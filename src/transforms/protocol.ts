/** What the parent, its child processes and their threads say to each other. A message on the channel is a list:
 *  all that one turn of the event loop had to say. */

export interface Limits {
  /** Transforms that one child runs at once. */
  threads: number;
  /** For one request: making the isolate, where it is not there yet, and the call. */
  timeoutMs: number;
  /** A batch that has taken so long is not continued. */
  batchMs: number;
  /** Of one isolate. V8 keeps to it roughly, and some allocations abort the process instead. */
  memoryLimitMb: number;
  /** Kept in one thread, each 3 to 6 MB; the one that was used longest ago makes room. */
  isolates: number;
  /** Together, in one thread. */
  keptMb: number;
  /** An isolate that has grown beyond this is not kept: what it holds is garbage, since no request leaves anything to the next. */
  isolateKeptMb: number;
  /** A child that has taken so many batches is replaced in good order: against whatever leaks. */
  batchesPerChild: number;
  /** After so many requests an isolate is made anew, so that nothing a transform leaves behind can pile up. */
  usesPerIsolate: number;
  logLines: number;
  logChars: number;
  outputChars: number;
}

export const DEFAULT_LIMITS = {
  batchMs: 10,
  memoryLimitMb: 64,
  isolates: 64,
  keptMb: 128,
  isolateKeptMb: 24,
  batchesPerChild: 1_000_000,
  usesPerIsolate: 1_000,
  logLines: 100,
  logChars: 16_384,
  outputChars: 4 * 1_048_576,
} satisfies Partial<Limits>;

/** `learn` comes once for each version of a webhook's code, before the first `perform` that names its slot. A `perform` is for requests of
 *  one webhook, in a batch: handing them to a thread one by one costs many times what a quick transform does. */
export type Order =
  | { order: 'learn'; slot: number; id: string; code: string }
  | { order: 'forget'; slot: number }
  | { order: 'evict'; id: string }
  | { order: 'perform'; batch: number; slot: number; args: string[] | null };

/** What a thread does: `args` has the JSON of the transform's four arguments, for each request; null: only define the function. */
export interface Task {
  id: string;
  code: string;
  args: string[] | null;
}

/** `text` is the JSON of a `Report`, made inside the isolate and not yet looked at; `durationMs` is of the call alone. */
export type TransformResult = { text: string; durationMs: number } | { stopped: StopCause };

/** `memory` also stands for every other way in which a transform can make its process end itself. */
export type StopCause = 'time' | 'memory';

/** Verdicts in the order of the batch. Where there are fewer, the rest was not begun. */
export interface Reply {
  batch: number;
  verdicts: TransformResult[];
}

/** `bytes`: of memory that the child has, told when that has changed. */
export type FromChild = 'ready' | Reply[] | { bytes: number };

/** The channel on which the threads hear the IDs of webhooks that are no more. */
export const GONE = 'gone';

const MB = 1_048_576;
/** Node.js, the threads and their start. */
const BASE_MB = 128;

/** What a child may come to have of memory. Beyond `replace` another child takes its place in good order: it keeps more than its
 *  isolates account for. Beyond `kill` what runs in it is taking memory that no limit of V8's catches: a single transform may have
 *  two to three times its limit before it is stopped. */
export function memoryBounds({ threads, keptMb, memoryLimitMb }: Limits) {
  const replace = (BASE_MB + threads * (keptMb + memoryLimitMb)) * MB;
  return { replace, kill: replace + threads * 2 * memoryLimitMb * MB };
}
