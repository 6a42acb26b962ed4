/** What a process of a group asks of its supervisor, and hears from it. */
import { setTimeout } from 'node:timers/promises';
import type { ProcessMetrics } from '../metrics/process-metrics.ts';
import { ignoreClosed, type ToProcess, type ToSupervisor } from './messages.ts';

/** Longer than the supervisor waits for its processes. */
const GROUP_METRICS_TIMEOUT_MS = 5_000;

export interface GroupMember {
  /** Its number in the group, from 1 on; a process that replaces another gets its number. The first does what one process does for all. */
  readonly number: number;
  /** @returns the socket to listen on: of the process with this number before this one, and of the one after it (shared-port.ts) */
  listeningSocket(): Promise<object>;
  /** @param end called when another process has replaced this one */
  onReplaced(end: () => void): void;
  /** Lets the supervisor read the metrics, and scrapes the whole group. */
  shareMetrics(own: ProcessMetrics): ProcessMetrics;
}

/** @returns undefined: this process has no supervisor */
export function groupMember(): GroupMember | undefined {
  if (!process.send || process.argv[2] === undefined) return undefined;
  return { number: Number(process.argv[2]), listeningSocket, onReplaced, shareMetrics };
}

async function listeningSocket(): Promise<object> {
  const { promise, resolve } = Promise.withResolvers<object>();
  const onMessage = ({ kind }: ToProcess, socket: unknown) => {
    if (kind === 'socket') resolve(socket as object);
  };
  process.on('message', onMessage);
  send({ kind: 'socket?' });
  return promise.finally(() => process.off('message', onMessage));
}

function onReplaced(end: () => void): void {
  process.on('message', ({ kind }: ToProcess) => {
    if (kind === 'replaced') end();
  });
}

function shareMetrics(own: ProcessMetrics): ProcessMetrics {
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
