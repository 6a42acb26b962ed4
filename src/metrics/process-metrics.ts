/** The instruments of one process: the work tells them what it does, and somebody may come and read them. */
import packageJson from '../../package.json' with { type: 'json' };
import { watchEventLoop } from './event-loop.ts';
import { type Sources, sourceGauges } from './gauges.ts';
import { type Meter, SILENT } from './recorder.ts';
import { Panel } from './registry.ts';
import { workMeter } from './shared.ts';
import { webMeter } from './web.ts';
import { workerMeter } from './worker.ts';

export interface Instruments {
  readonly meter: Meter;
  readonly contentType: string;
  /** Has these read with every scrape from now on. */
  watch(sources: Sources): void;
  /** Everything, in Prometheus's text format. */
  scrape(): Promise<string>;
  /** Names and labels of all there is, for the table in docs/metrics.md. */
  catalogue(): { name: string; type: string; labels: readonly string[] }[];
}

export function createInstruments(role: 'web' | 'worker'): Instruments {
  const panel = new Panel(role);
  const { version } = packageJson;
  panel.gaugesBy('build_info', 'Always 1; its labels say what runs.', ['version'])(version).set(1);
  watchEventLoop(panel);
  const meter = { ...SILENT, ...workMeter(panel), ...(role === 'web' ? webMeter(panel) : workerMeter(panel)) };
  const read = sourceGauges(panel, role);
  let watched: Sources | undefined;
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
