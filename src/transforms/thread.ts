/** What runs in each thread of a child: one batch at a time, each in the isolate of its webhook. */
import { workerData } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { CodeError, createIsolate, type Isolate, Stopped } from './isolate.ts';
import type { Limits, Task, Verdict } from './protocol.ts';

const limits: Limits = workerData;

const isolates = new LRUCache<string, Isolate>({ max: limits.isolates, dispose: (isolate) => isolate.dispose() });

/** Stops early when a request was stopped, or had its thread for long: others may be waiting for what is known by now. */
export async function perform({ id, code, args }: Task): Promise<Verdict[]> {
  const begun = performance.now();
  const verdicts: Verdict[] = [];
  for (const one of args ?? [null]) {
    const verdict = await judge(id, code, one);
    verdicts.push(verdict);
    if ('stopped' in verdict || performance.now() - begun > limits.batchMs) break;
  }
  return verdicts;
}

async function judge(id: string, code: string, args: string | null): Promise<Verdict> {
  let started = performance.now();
  const deadline = started + limits.timeoutMs;
  try {
    if (args === null) return { text: define(code, deadline), durationMs: performance.now() - started };
    const isolate = isolateFor(id, code, deadline);
    started = performance.now();
    return { text: await isolate.call(args, deadline), durationMs: performance.now() - started };
  } catch (error) {
    if (error instanceof CodeError) return { text: failure(error), durationMs: performance.now() - started };
    if (!(error instanceof Stopped)) throw error;
    isolates.delete(id);
    return { stopped: error.by };
  }
}

function define(code: string, deadline: number) {
  createIsolate(code, limits, deadline).dispose();
  return '{"event":null,"logs":[]}';
}

function isolateFor(id: string, code: string, deadline: number): Isolate {
  let isolate = isolates.get(id);
  if (isolate === undefined || isolate.code !== code || isolate.uses >= limits.usesPerIsolate) {
    isolate = createIsolate(code, limits, deadline);
    isolates.set(id, isolate);
  }
  isolate.uses += 1;
  return isolate;
}

function failure({ message, stack }: CodeError) {
  return JSON.stringify({ error: { message, stack }, logs: [] });
}
