/** Runs in each thread of a child process: one batch at a time, in the isolate of its webhook. */
import { BroadcastChannel, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { type Arguments, EVICTIONS, type Limits, type Task, type TransformResult } from '../protocol.ts';
import { CodeError, createIsolate, type Isolate, Stopped } from './isolate.ts';

const limits: Limits = workerData;
const MB = 1_048_576;

const isolates = new LRUCache<string, Isolate>({
  max: limits.isolates,
  maxSize: limits.cachedMb * MB,
  dispose: (isolate) => isolate.dispose(),
});

const evictions = new BroadcastChannel(EVICTIONS);
evictions.unref();
// @types/node declares this for ports only.
const nextEviction = (): { message: string } | undefined => receiveMessageOnPort(evictions as never);

/** Returns early when a request was stopped or the batch took long, so that the parent can use the results so far.
 *  @param task null: only process evictions */
export async function runBatch(task: Task | null): Promise<TransformResult[]> {
  // Polls instead of listening: between two tasks the thread sleeps, and its event loop does not run.
  for (let eviction = nextEviction(); eviction; eviction = nextEviction()) isolates.delete(eviction.message);
  if (task === null) return [];
  const { args, ...transform } = task;
  const startedAt = performance.now();
  const results: TransformResult[] = [];
  for (const call of args ?? [null]) {
    const result = await run(transform, call);
    results.push(result);
    if ('stopped' in result || performance.now() - startedAt > limits.batchMs) break;
  }
  cache(task.id);
  return results;
}

type Transform = Omit<Task, 'args'>;

async function run(transform: Transform, args: Arguments | null): Promise<TransformResult> {
  let startedAt = performance.now();
  const deadline = startedAt + limits.timeoutMs;
  try {
    if (args === null) return { text: define(transform, deadline), durationMs: performance.now() - startedAt };
    const isolate = isolateFor(transform);
    startedAt = performance.now();
    const text = await isolate.call(args, deadline);
    if (text !== undefined) return { text, durationMs: performance.now() - startedAt };
    isolates.delete(transform.id);
    return run(transform, args);
  } catch (error) {
    if (error instanceof CodeError) return { text: errorReport(error), durationMs: performance.now() - startedAt };
    if (!(error instanceof Stopped)) throw error;
    isolates.delete(transform.id);
    return { stopped: error.cause };
  }
}

function define({ code, aheadMs }: Transform, deadline: number) {
  const isolate = createIsolate(code, limits, aheadMs);
  try {
    return isolate.check(deadline);
  } finally {
    isolate.dispose();
  }
}

function isolateFor({ id, code, aheadMs }: Transform): Isolate {
  let isolate = isolates.peek(id);
  const isSame = isolate?.code === code && isolate.aheadMs === aheadMs;
  if (isolate === undefined || !isSame || isolate.uses >= isolate.maxUses) {
    isolates.delete(id);
    isolate = createIsolate(code, limits, aheadMs);
    isolates.set(id, isolate, { size: 1 });
  }
  isolate.uses += 1;
  return isolate;
}

/** Measures the isolate after its work; its size decides which isolates stay cached. */
function cache(id: string) {
  const isolate = isolates.peek(id);
  if (isolate === undefined) return;
  const size = isolate.uses < isolate.maxUses ? isolate.bytes() : Number.POSITIVE_INFINITY;
  if (size > limits.cachedIsolateMb * MB) isolates.delete(id);
  else isolates.set(id, isolate, { size: Math.max(1, size) });
}

function errorReport({ message, stack }: CodeError) {
  return JSON.stringify({ error: { message, stack }, logs: [] });
}
