/** The charts of docs/performance.md, by file name. Charts without figures in the results are left out. */
import type { Results, Series } from '../results.ts';
import type { Group, Row } from '../row.ts';
import { barChart } from './bar-chart.ts';
import { lineChart } from './line-chart.ts';

/** Target for the memory of a process. */
const MOST_MB = 200;

export function chartsOf({ rows, series }: Results): Map<string, string> {
  const of = (group: Group, isOne: (row: Row) => boolean = () => true) =>
    rows.filter((row) => row.group === group && isOne(row));
  const isRate = ({ unit }: Row) => unit.endsWith('/s');
  const inMs = ({ unit, work }: Row) => unit === 'ms' && !work.includes('sender itself');
  const bars: [name: string, title: string, rows: Row[], scale: 'own' | 'common'][] = [
    ['requests', 'Events accepted', of('requests'), 'own'],
    ['fsync', 'Events accepted, acknowledged when on disk', of('fsync'), 'own'],
    ['ingest', 'Events stored and matched', of('ingest'), 'own'],
    ['runs', 'Runs', of('runs', isRate), 'own'],
    ['latency', 'Latency', rows.filter((row) => row.group !== 'growth' && inMs(row)), 'common'],
    ['memory', 'Memory in Redis', of('memory'), 'common'],
    ['growth', 'Throughput of a full service compared with an empty one', of('growth', isRate), 'own'],
    ['reads', 'Read latency of a full service', of('growth', inMs), 'common'],
  ];
  const lines: [key: Series['key'], title: string, limit?: number][] = [
    ['backlog', 'Backlog at 30,000 events/s'],
    ['runs', 'Runs per second in the sustained round'],
    ['soak', 'Memory of the processes under mixed load', MOST_MB],
  ];
  const drawn = new Map<string, string>();
  for (const [name, title, shown, scale] of bars) if (shown.length > 0) drawn.set(name, barChart(title, shown, scale));
  for (const [key, title, limit] of lines) {
    const one = series.find((other) => other.key === key);
    if (one) drawn.set(`${key}-over-time`, lineChart(title, one, limit));
  }
  return drawn;
}
