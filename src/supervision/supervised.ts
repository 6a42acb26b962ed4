/** A supervised process's side of the IPC with its supervisor. */
import { setTimeout } from 'node:timers/promises';
import type { ProcessMetrics } from '../metrics/process-metrics.ts';
import { ignoreClosed, type ToProcess, type ToSupervisor } from './messages.ts';

/** Longer than the supervisor waits for its processes. */
const GROUP_METRICS_TIMEOUT_MS = 5_000;

export interface GroupMember {
  /** Number in the group, from 1; a replacement has the same number. The first process does work that only one of the group should do. */
  readonly number: number;
  /** @returns the socket to listen on, shared with earlier and later processes of this number (shared-port.ts) */
  listeningSocket(): Promise<object>;
  /** @param end called when another process has replaced this one */
  onReplaced(end: () => void): void;
  /** Shares this process's metrics with the supervisor. @returns metrics of the whole group */
  shareMetrics(own: ProcessMetrics): ProcessMetrics;
}

/** @returns undefined without a supervisor */
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
      const scraped = Promise.withResolvers<string>();
      scrapes.set(request, scraped.resolve);
      send({ kind: 'group metrics?', request });
      const timeout = setTimeout(GROUP_METRICS_TIMEOUT_MS, undefined, { ref: false });
      const text = await Promise.race([scraped.promise, timeout]);
      scrapes.delete(request);
      if (text === undefined) throw new Error('the supervisor did not answer in time');
      return text;
    },
  };
}

function send(message: ToSupervisor): void {
  process.send?.(message, undefined, undefined, ignoreClosed);
}
