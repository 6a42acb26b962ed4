/** The metrics of one process: the service records them through `recorder`, and a scrape reads them. */
import { VERSION } from '../version.ts';
import { dutyRecorder } from './duties.ts';
import { measureEventLoop } from './event-loop.ts';
import { FunctionMetrics } from './functions.ts';
import { type GaugeSources, registerGauges } from './gauges.ts';
import { type MetricsRecorder, NOOP_RECORDER } from './recorder.ts';
import { MetricsRegistry, type MetricsSnapshot } from './registry.ts';
import { sharedRecorder } from './shared.ts';
import { webRecorder } from './web.ts';
import { workerRecorder } from './worker.ts';

export interface ProcessMetrics {
  readonly recorder: MetricsRecorder;
  readonly contentType: string;
  /** Sets the sources to read at each scrape. */
  setGaugeSources(sources: GaugeSources): void;
  /** All metrics in Prometheus's text format. */
  scrape(): Promise<string>;
  /** Like `scrape`, for a supervisor that combines several processes. */
  snapshot(): Promise<MetricsSnapshot>;
  /** Names, types and labels of all metrics, for the table in docs/metrics.md. */
  catalog(): { name: string; type: string; labels: readonly string[] }[];
}

export function createProcessMetrics(role: 'web' | 'worker'): ProcessMetrics {
  const registry = new MetricsRegistry(role);
  registry.gaugesBy('build_info', 'Always 1; the label has the version.', ['version'], 'max')(VERSION).set(1);
  measureEventLoop(registry);
  const functions = new FunctionMetrics(registry, role);
  const recorder = {
    ...NOOP_RECORDER,
    ...sharedRecorder(registry),
    ...dutyRecorder(registry),
    ...functions.recorder,
    ...(role === 'web' ? webRecorder(registry) : workerRecorder(registry)),
  };
  const readGauges = registerGauges(registry, role, functions);
  let gaugeSources: GaugeSources | undefined;
  return {
    recorder,
    contentType: registry.contentType,
    setGaugeSources(sources) {
      gaugeSources = sources;
    },
    async scrape() {
      if (gaugeSources) await readGauges(gaugeSources);
      return registry.scrape();
    },
    async snapshot() {
      if (gaugeSources) await readGauges(gaugeSources);
      return registry.snapshot();
    },
    catalog: () => registry.catalog(),
  };
}
