/** The registry of one process, and how instruments are made for it. Only here is prom-client imported. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** Upper bounds in seconds. */
export const SHORT = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
export const LONG = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200];
/** 0.25 is what scripts/fuzz lets no request cost. */
export const DELAYS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
export const EVENTS = [1, 2, 5, 10, 25, 50, 100, 250, 500];
export const BYTES = [256, 1_024, 4_096, 16_384, 65_536, 262_144, 524_288, 1_048_576, 4_194_304];

const PREFIX = 'tidegate_';

export interface CounterMetric {
  inc(by?: number): void;
}

export interface HistogramMetric {
  observe(value: number): void;
}

export interface GaugeMetric {
  set(value: number): void;
  /** It is not known now: nothing is told, rather than something old. */
  forget(): void;
}

/** Names are without the prefix; what a label may be is told by who uses it. */
export class MetricsRegistry {
  readonly registry = new Registry();

  constructor(role: string) {
    this.registry.setDefaultLabels({ role });
    collectDefaultMetrics({ register: this.registry });
  }

  counter(name: string, help: string): CounterMetric {
    const counter = new Counter({ ...this.#of(name, help), labelNames: [] });
    return { inc: (by) => counter.inc(by as number) };
  }

  /** Each of the values is told from the start, so that its first increase is seen as one. */
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

  /** For labels whose values are not known here; there must be few of them all the same. */
  countersBy(name: string, help: string, labelNames: readonly string[]): (...values: string[]) => CounterMetric {
    const counter = new Counter({ ...this.#of(name, help), labelNames });
    return boundOnce((values) => counter.labels(...values));
  }

  histogram(name: string, help: string, buckets: number[]): HistogramMetric {
    const histogram = new Histogram({ ...this.#of(name, help), buckets, labelNames: [] });
    return { observe: (value) => histogram.observe(value) };
  }

  histogramsBy(
    name: string,
    help: string,
    labelNames: readonly string[],
    buckets: number[],
  ): (...values: string[]) => HistogramMetric {
    const histogram = new Histogram({ ...this.#of(name, help), buckets, labelNames });
    return boundOnce((values) => histogram.labels(...values));
  }

  gauge(name: string, help: string): GaugeMetric {
    return this.gaugesBy(name, help, [])();
  }

  gaugesBy(name: string, help: string, labelNames: readonly string[]): (...values: string[]) => GaugeMetric {
    const gauge = new Gauge({ ...this.#of(name, help), labelNames });
    // One without labels begins as 0, which nobody has read yet.
    if (labelNames.length === 0) gauge.remove();
    return boundOnce((values) => {
      const labels = Object.fromEntries(labelNames.map((label, i) => [label, values[i] as string]));
      return { set: (value) => gauge.set(labels, value), forget: () => gauge.remove(labels) };
    });
  }

  catalogue(): { name: string; type: string; labels: readonly string[] }[] {
    const metrics = this.registry.getMetricsAsArray() as unknown as {
      name: string;
      type: string;
      labelNames: string[];
    }[];
    return metrics.map(({ name, type, labelNames }) => ({ name, type, labels: labelNames }));
  }

  #of(name: string, help: string) {
    return { name: PREFIX + name, help, registers: [this.registry] };
  }
}

/** An instrument is bound to its labels once; after that it is looked up, without making anything. */
function boundOnce<Bound>(bind: (values: string[]) => Bound): (...values: string[]) => Bound {
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
