/** One scrape for all processes of a group: the supervisor asks each process for its metrics. */
import type { ChildProcess } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import type { GroupMetrics } from '../metrics/group-metrics.ts';
import type { MetricsSnapshot } from '../metrics/registry.ts';
import { ignoreClosed, type ToProcess, type ToSupervisor } from './messages.ts';

/** Longer than a process waits for Redis during a scrape. */
const TIMEOUT_MS = 3_000;

export class GroupScrape {
  readonly #metrics: GroupMetrics;
  /** Processes that respond. */
  readonly #children = new Set<ChildProcess>();
  readonly #waiting = new Map<number, (metrics: MetricsSnapshot) => void>();
  #lastRequest = 0;
  #inFlight: Promise<string> | undefined;

  constructor(metrics: GroupMetrics) {
    this.#metrics = metrics;
  }

  get contentType(): string {
    return this.#metrics.contentType;
  }

  onMessage(child: ChildProcess, message: ToSupervisor): void {
    if (message.kind === 'metrics started') this.#children.add(child);
    else if (message.kind === 'metrics') this.#waiting.get(message.request)?.(message.metrics);
    else if (message.kind === 'group metrics?') void this.#respond(child, message.request);
  }

  onExit(child: ChildProcess): void {
    this.#children.delete(child);
    this.#metrics.recordEnd(child.pid as number);
  }

  /** The result is in Prometheus's text format. Concurrent scrapes share one round. */
  scrape(): Promise<string> {
    this.#inFlight ??= this.#scrape().finally(() => {
      this.#inFlight = undefined;
    });
    return this.#inFlight;
  }

  async #scrape(): Promise<string> {
    await Promise.all([...this.#children].map((child) => this.#ask(child)));
    return this.#metrics.text();
  }

  /** A process that does not respond in time keeps its last metrics, so that sums do not fall. */
  async #ask(child: ChildProcess): Promise<void> {
    const request = ++this.#lastRequest;
    const response = Promise.withResolvers<MetricsSnapshot | undefined>();
    this.#waiting.set(request, response.resolve);
    const noResponse = () => response.resolve(undefined);
    child.once('exit', noResponse);
    send(child, { kind: 'metrics?', request });
    const metrics = await Promise.race([response.promise, setTimeout(TIMEOUT_MS, undefined, { ref: false })]);
    this.#waiting.delete(request);
    child.off('exit', noResponse);
    if (metrics && this.#children.has(child)) this.#metrics.record(child.pid as number, metrics);
  }

  async #respond(child: ChildProcess, request: number): Promise<void> {
    send(child, { kind: 'group metrics', request, text: await this.scrape() });
  }
}

function send(child: ChildProcess, message: ToProcess): void {
  child.send(message, undefined, undefined, ignoreClosed);
}
