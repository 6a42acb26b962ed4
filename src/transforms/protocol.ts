/** Messages between the parent process (`scheduler/`) and the child process with its threads (`sandbox/`). A message on the IPC channel is the
 *  list of everything that one turn of the event loop produced. */

export interface Limits {
  /** Transforms that one child process runs at the same time. */
  threads: number;
  /** Time limit of one request: creating the isolate, if needed, and the call. */
  timeoutMs: number;
  /** A thread returns a batch early after this time. */
  batchMs: number;
  /** Limit of one isolate. V8 enforces it approximately, and some allocations abort the process instead. */
  memoryLimitMb: number;
  /** Isolates that one thread caches (3 to 6 MB each). Evicts the least recently used one. */
  isolates: number;
  /** Total size of the cached isolates of one thread. */
  cachedMb: number;
  /** A larger isolate is not cached: its content is garbage, because no request leaves state for the next request. */
  cachedIsolateMb: number;
  /** A child process is replaced gracefully after this many batches, in case something leaks. */
  batchesPerChild: number;
  /** An isolate is replaced after this many requests, so that leftovers of a transform cannot accumulate. Creating one
   *  takes 4 ms, and its code is slow at first. */
  usesPerIsolate: number;
  logLines: number;
  logChars: number;
  outputChars: number;
}

export const DEFAULT_LIMITS = {
  batchMs: 10,
  memoryLimitMb: 64,
  isolates: 64,
  cachedMb: 128,
  cachedIsolateMb: 24,
  batchesPerChild: 1_000_000,
  usesPerIsolate: 10_000,
  logLines: 100,
  logChars: 16_384,
  outputChars: 4 * 1_048_576,
} satisfies Partial<Limits>;

/** Parent to child. `load` is sent once per version of a webhook's code, before the first `run` with its handle. A `run` carries a
 *  batch of requests of one webhook: passing requests to a thread one by one costs many times what a fast transform costs. */
export type Command =
  | { type: 'load'; handle: number; id: string; code: string }
  | { type: 'unload'; handle: number }
  | { type: 'evict'; id: string }
  | { type: 'run'; batch: number; handle: number; args: Arguments[] | null; aheadMs: number };

/** The arguments of one call: the raw body (not encoded as JSON); the headers, the query, and for a large body the
 *  reference that replaces the raw one, as JSON; and the body as JSON. Without the latter, the body is the raw body if
 *  that is JSON, otherwise {}. */
export type Arguments = [raw: string, others: string, body?: string];

/** Work for a thread. `args` holds the arguments of each request; null: only define the function. `aheadMs`: by how
 *  much the time of the transform is ahead of the machine. */
export interface Task {
  id: string;
  code: string;
  args: Arguments[] | null;
  aheadMs: number;
}

/** `text` is the JSON of an `IsolateReport`, produced inside the isolate and not validated yet; `durationMs` covers the call only. */
export type TransformResult = { text: string; durationMs: number } | { stopped: StopCause };

/** `memory` also covers every other way in which a transform can make its process exit. */
export type StopCause = 'time' | 'memory';

/** Results in the order of the batch. If results are missing at the end, their requests were not started. */
export interface Reply {
  batch: number;
  results: TransformResult[];
}

/** Child to parent. `bytes`: resident memory of the child, sent when it changes. */
export type ChildMessage = 'ready' | Reply[] | { bytes: number };

/** The broadcast channel on which threads receive the IDs of deleted or edited webhooks. */
export const EVICTIONS = 'evictions';

const MB = 1_048_576;
/** Node.js, and the threads with their start. */
const BASE_MB = 128;

/** Memory bounds of a child process. Above `replace`, the parent replaces it gracefully: it holds more than its isolates explain. Above
 *  `kill`, running code allocates memory that no V8 limit covers: a single transform can reach two to three times its
 *  limit before V8 stops it. */
export function memoryBounds({ threads, cachedMb, memoryLimitMb }: Limits) {
  const replace = (BASE_MB + threads * (cachedMb + memoryLimitMb)) * MB;
  return { replace, kill: replace + threads * 2 * memoryLimitMb * MB };
}
