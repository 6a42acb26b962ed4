/** The registry of one process, and the factory of its metrics. */
import { type Aggregator, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** Upper bounds in seconds. */
export const SHORT_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
export const LONG_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200];
/** 0.25 is the most that `scripts/fuzz` allows a request to cost. */
export const DELAY_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
export const COUNT_BUCKETS = [1, 2, 5, 10, 25, 50, 100, 250, 500];
export const BYTES_BUCKETS = [256, 1_024, 4_096, 16_384, 65_536, 262_144, 524_288, 1_048_576, 4_194_304];

const PREFIX = 'tidegate_';

export interface CounterMetric {
  inc(by?: number): void;
}

export interface HistogramMetric {
  observe(value: number): void;
}

export interface GaugeMetric {
  set(value: number): void;
  /** The value is unknown now: omits the series instead of showing an old value. */
  remove(): void;
}

/** Series that can be removed; a removed series leaves no data behind. */
export interface SeriesMetric {
  add(values: readonly string[], by: number): void;
  remove(values: readonly string[]): void;
  /** Removes all. */
  clear(): void;
}

/** All metrics of a process, to be sent to its supervisor. */
export type MetricsSnapshot = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** How values of several processes are combined: `sum` for values of each process, `max` or `min` for values that all processes share. */
export type Aggregation = 'sum' | 'max' | 'min';

/** Names are without the prefix. */
export class MetricsRegistry {
  readonly #registry = new Registry();

  constructor(role: string) {
    this.#registry.setDefaultLabels({ role });
    collectDefaultMetrics({ register: this.#registry });
    // In a group, the process with the longest delays matters: a mean of percentiles hides it.
    for (const metric of this.#registry.getMetricsAsArray() as { aggregator?: Aggregator }[]) {
      if (metric.aggregator === 'average') metric.aggregator = 'max';
    }
  }

  counter(name: string, help: string): CounterMetric {
    const counter = new Counter({ ...this.#options(name, help), labelNames: [] });
    return { inc: (by) => counter.inc(by as number) };
  }

  /** Initializes each label value to 0, so that Prometheus sees its first increase. */
  counters<Value extends string>(
    name: string,
    help: string,
    label: string,
    values: readonly Value[],
  ): (value: Value) => CounterMetric {
    const of = this.countersBy(name, help, [label]);
    for (const value of values) of(value).inc(0);
    return of;
  }

  /** For labels with values unknown in advance, of which there must be few. */
  countersBy(name: string, help: string, labelNames: readonly string[]): (...values: string[]) => CounterMetric {
    const counter = new Counter({ ...this.#options(name, help), labelNames });
    return cached((values) => counter.labels(...values));
  }

  histogram(name: string, help: string, buckets: number[]): HistogramMetric {
    const histogram = new Histogram({ ...this.#options(name, help), buckets, labelNames: [] });
    return { observe: (value) => histogram.observe(value) };
  }

  histogramsBy(
    name: string,
    help: string,
    labelNames: readonly string[],
    buckets: number[],
  ): (...values: string[]) => HistogramMetric {
    const histogram = new Histogram({ ...this.#options(name, help), buckets, labelNames });
    return cached((values) => histogram.labels(...values));
  }

  gauge(name: string, help: string, aggregator?: Aggregation): GaugeMetric {
    return this.gaugesBy(name, help, [], aggregator)();
  }

  gaugesBy(
    name: string,
    help: string,
    labelNames: readonly string[],
    aggregator: Aggregation = 'sum',
  ): (...values: string[]) => GaugeMetric {
    const gauge = new Gauge({ ...this.#options(name, help), labelNames, aggregator });
    // Removed, because a gauge without labels would start as 0, a value that was never read.
    if (labelNames.length === 0) gauge.remove();
    return cached((values) => {
      const labels = Object.fromEntries(labelNames.map((label, i) => [label, values[i] as string]));
      return { set: (value) => gauge.set(labels, value), remove: () => gauge.remove(labels) };
    });
  }

  counterSeries(name: string, help: string, labelNames: readonly string[]): SeriesMetric {
    return seriesOf(new Counter({ ...this.#options(name, help), labelNames }), labelNames);
  }

  gaugeSeries(
    name: string,
    help: string,
    labelNames: readonly string[],
    aggregator: Aggregation = 'sum',
  ): SeriesMetric {
    return seriesOf(new Gauge({ ...this.#options(name, help), labelNames, aggregator }), labelNames);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** All metrics in Prometheus's text format. */
  scrape(): Promise<string> {
    return this.#registry.metrics();
  }

  snapshot(): Promise<MetricsSnapshot> {
    return this.#registry.getMetricsAsJSON();
  }

  catalog(): { name: string; type: string; labels: readonly string[] }[] {
    const metrics = this.#registry.getMetricsAsArray() as unknown as {
      name: string;
      type: string;
      labelNames: string[];
    }[];
    return metrics.map(({ name, type, labelNames }) => ({ name, type, labels: labelNames }));
  }

  #options(name: string, help: string) {
    return { name: PREFIX + name, help, registers: [this.#registry] };
  }
}

function seriesOf(metric: Counter | Gauge, labelNames: readonly string[]): SeriesMetric {
  const labelsOf = (values: readonly string[]) =>
    Object.fromEntries(labelNames.map((label, i) => [label, values[i] as string]));
  return {
    add: (values, by) => metric.inc(labelsOf(values), by),
    remove: (values) => metric.remove(labelsOf(values)),
    clear: () => metric.reset(),
  };
}

/** Binds a metric to its label values once; later calls only look it up, without allocations. */
function cached<Bound>(bind: (values: string[]) => Bound): (...values: string[]) => Bound {
  interface Node {
    bound?: Bound;
    next: Map<string, Node>;
  }
  const root: Node = { next: new Map() };
  return (...values) => {
    let node = root;
    for (const value of values) {
      let next = node.next.get(value);
      if (!next) {
        next = { next: new Map() };
        node.next.set(value, next);
      }
      node = next;
    }
    node.bound ??= bind(values);
    return node.bound;
  };
}
