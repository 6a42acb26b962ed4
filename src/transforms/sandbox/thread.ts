/** What runs in each thread of a child: one batch at a time, each in the isolate of its webhook. */
import { BroadcastChannel, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { GONE, type Limits, type Task, type TransformResult } from '../protocol.ts';
import { CodeError, createIsolate, type Isolate, Stopped } from './isolate.ts';

const limits: Limits = workerData;
const MB = 1_048_576;

const isolates = new LRUCache<string, Isolate>({
  max: limits.isolates,
  maxSize: limits.keptMb * MB,
  dispose: (isolate) => isolate.dispose(),
});

const gone = new BroadcastChannel(GONE);
gone.unref();
// @types/node knows of ports alone.
const hear = (): { message: string } | undefined => receiveMessageOnPort(gone as never);

/** Stops early when a request was stopped, or had its thread for long: others may be waiting for what is known by now.
 *  @param task null: nothing to do but to let go of what is not needed any more */
export async function perform(task: Task | null): Promise<TransformResult[]> {
  // Read and not listened for: between two tasks the thread sleeps, deaf to its event loop.
  for (let heard = hear(); heard; heard = hear()) isolates.delete(heard.message);
  if (task === null) return [];
  const { id, code, args } = task;
  const begun = performance.now();
  const verdicts: TransformResult[] = [];
  for (const one of args ?? [null]) {
    const verdict = await judge(id, code, one);
    verdicts.push(verdict);
    if ('stopped' in verdict || performance.now() - begun > limits.batchMs) break;
  }
  keep(id);
  return verdicts;
}

async function judge(id: string, code: string, args: string | null): Promise<TransformResult> {
  let started = performance.now();
  const deadline = started + limits.timeoutMs;
  try {
    if (args === null) return { text: define(code, deadline), durationMs: performance.now() - started };
    const isolate = isolateFor(id, code);
    started = performance.now();
    const text = await isolate.call(args, deadline);
    if (text !== undefined) return { text, durationMs: performance.now() - started };
    isolates.delete(id);
    return judge(id, code, args);
  } catch (error) {
    if (error instanceof CodeError) return { text: failure(error), durationMs: performance.now() - started };
    if (!(error instanceof Stopped)) throw error;
    isolates.delete(id);
    return { stopped: error.by };
  }
}

function define(code: string, deadline: number) {
  const isolate = createIsolate(code, limits);
  try {
    return isolate.check(deadline);
  } finally {
    isolate.dispose();
  }
}

function isolateFor(id: string, code: string): Isolate {
  let isolate = isolates.peek(id);
  if (isolate === undefined || isolate.code !== code || isolate.uses >= isolate.lasts) {
    isolates.delete(id);
    isolate = createIsolate(code, limits);
    isolates.set(id, isolate, { size: 1 });
  }
  isolate.uses += 1;
  return isolate;
}

/** Weighs the isolate after its work, and with it decides which ones are kept. */
function keep(id: string) {
  const isolate = isolates.peek(id);
  if (isolate === undefined) return;
  const size = isolate.uses < isolate.lasts ? isolate.bytes() : Number.POSITIVE_INFINITY;
  if (size > limits.isolateKeptMb * MB) isolates.delete(id);
  else isolates.set(id, isolate, { size: Math.max(1, size) });
}

function failure({ message, stack }: CodeError) {
  return JSON.stringify({ error: { message, stack }, logs: [] });
}
