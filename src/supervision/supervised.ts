/** What a process knows of its supervisor. Without one there is nothing to know. */
import { setTimeout } from 'node:timers/promises';
import type { ProcessMetrics } from '../metrics/process-metrics.ts';
import { ignoreClosed, type ToProcess, type ToSupervisor } from './messages.ts';

/** Longer than the supervisor waits for its processes. */
const GROUP_METRICS_TIMEOUT_MS = 5_000;

/** Its number in the group, from 1 on; a process that replaces another gets its number. undefined: without supervisor. */
export function processNumber(): number | undefined {
  return process.send && process.argv[2] !== undefined ? Number(process.argv[2]) : undefined;
}

export function isSupervised(): boolean {
  return processNumber() !== undefined;
}

/** Whether to do what one process of a group does for all: print what is the same for each. */
export function isFirstProcess(): boolean {
  return (processNumber() ?? 1) === 1;
}

/** @returns the socket to listen on: of the process with this number before this one, and of the one after it
 *  (shared-port.ts) */
export async function listeningSocket(): Promise<object> {
  const { promise, resolve } = Promise.withResolvers<object>();
  const onMessage = ({ kind }: ToProcess, socket: unknown) => {
    if (kind === 'socket') resolve(socket as object);
  };
  process.on('message', onMessage);
  send({ kind: 'socket?' });
  return promise.finally(() => process.off('message', onMessage));
}

export function onReplaced(end: () => void): void {
  process.on('message', ({ kind }: ToProcess) => {
    if (kind === 'replaced') end();
  });
}

/** Lets the supervisor read the metrics, and scrapes the whole group. */
export function shareMetrics(own: ProcessMetrics): ProcessMetrics {
  const scrapes = new Map<number, (text: string) => void>();
  let lastRequest = 0;
  process.on('message', async (message: ToProcess) => {
    if (message.kind === 'metrics?') {
      send({ kind: 'metrics', request: message.request, metrics: await own.snapshot() });
    } else if (message.kind === 'group metrics') {
      scrapes.get(message.request)?.(message.text);
    }
  });
  send({ kind: 'metrics started' });

  return {
    ...own,
    async scrape() {
      const request = ++lastRequest;
      const answer = Promise.withResolvers<string>();
      scrapes.set(request, answer.resolve);
      send({ kind: 'group metrics?', request });
      const timeout = setTimeout(GROUP_METRICS_TIMEOUT_MS, undefined, { ref: false });
      const text = await Promise.race([answer.promise, timeout]);
      scrapes.delete(request);
      if (text === undefined) throw new Error('the supervisor did not answer in time');
      return text;
    },
  };
}

function send(message: ToSupervisor): void {
  process.send?.(message, undefined, undefined, ignoreClosed);
}
