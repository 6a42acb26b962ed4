/** The instruments of one process: the work tells them what it does, and somebody may come and read them. */
import packageJson from '../../package.json' with { type: 'json' };
import { watchEventLoop } from './event-loop.ts';
import { type GaugeSources, sourceGauges } from './gauges.ts';
import { type MetricsRecorder, NOOP_RECORDER } from './recorder.ts';
import { MetricsRegistry } from './registry.ts';
import { sharedRecorder } from './shared.ts';
import { webRecorder } from './web.ts';
import { workerRecorder } from './worker.ts';

export interface ProcessMetrics {
  readonly meter: MetricsRecorder;
  readonly contentType: string;
  /** Has these read with every scrape from now on. */
  watch(sources: GaugeSources): void;
  /** Everything, in Prometheus's text format. */
  scrape(): Promise<string>;
  /** Names and labels of all there is, for the table in docs/metrics.md. */
  catalogue(): { name: string; type: string; labels: readonly string[] }[];
}

export function createProcessMetrics(role: 'web' | 'worker'): ProcessMetrics {
  const panel = new MetricsRegistry(role);
  const { version } = packageJson;
  panel.gaugesBy('build_info', 'Always 1; its labels say what runs.', ['version'])(version).set(1);
  watchEventLoop(panel);
  const meter = {
    ...NOOP_RECORDER,
    ...sharedRecorder(panel),
    ...(role === 'web' ? webRecorder(panel) : workerRecorder(panel)),
  };
  const read = sourceGauges(panel, role);
  let watched: GaugeSources | undefined;
  return {
    meter,
    contentType: panel.registry.contentType,
    watch(sources) {
      watched = sources;
    },
    async scrape() {
      if (watched) await read(watched);
      return panel.registry.metrics();
    },
    catalogue: () => panel.catalogue(),
  };
}
