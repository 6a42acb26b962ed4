/** Combines the metrics of several processes, because a scrape of a shared port cannot choose the process. */
import { AggregatorRegistry, type Registry } from 'prom-client';
import { MetricsRegistry, type MetricsSnapshot } from './registry.ts';

/** Metric types that only increase. */
const CUMULATIVE: ReadonlySet<string> = new Set(['counter', 'histogram', 'summary']);

export class GroupMetrics {
  /** CPU and memory of the supervisor. */
  readonly #own: MetricsRegistry;
  /** Key: process. */
  readonly #last = new Map<number, MetricsSnapshot>();
  /** Counts of ended processes. Without them sums would fall, which Prometheus takes for a restart. */
  #ended: MetricsSnapshot[] = [];

  constructor(role: 'web' | 'worker') {
    this.#own = new MetricsRegistry(role);
  }

  get contentType(): string {
    return this.#own.contentType;
  }

  record(process: number, metrics: MetricsSnapshot): void {
    this.#last.set(process, metrics);
  }

  recordEnd(process: number): void {
    const last = this.#last.get(process);
    this.#last.delete(process);
    if (last) this.#ended.push(last.filter(({ type }) => CUMULATIVE.has(String(type))));
  }

  /** All metrics in Prometheus's text format, each combined by its `Aggregation`. */
  async text(): Promise<string> {
    const { length } = this.#ended;
    const ended = await aggregate(this.#ended).getMetricsAsJSON();
    this.#ended.splice(0, length, ended);
    return aggregate([await this.#own.snapshot(), ended, ...this.#last.values()]).metrics();
  }
}

function aggregate(snapshots: MetricsSnapshot[]): Registry {
  return AggregatorRegistry.aggregate(snapshots);
}
