/** Draws the pictures of docs/performance.md, by file name. Skips those without figures in the results. */
import type { Results, Series } from '../results.ts';
import type { Group, Row } from '../row.ts';
import { barChart } from './bar-chart.ts';
import { lineChart } from './line-chart.ts';

/** Target: maximum memory of a process. */
const MAX_MB = 200;

/** Groups whose delays are in tables of their own. */
const OF_THEIR_OWN: readonly string[] = ['growth', 'schedules', 'flow-control', 'archive', 'exactly-once', 'what-if'];

export function chartsOf({ rows, series }: Results): Map<string, string> {
  const of = (group: Group, isOne: (row: Row) => boolean = () => true) =>
    rows.filter((row) => row.group === group && isOne(row));
  const isRate = ({ unit }: Row) => unit.endsWith('/s');
  const inMs = ({ unit, work }: Row) => unit === 'ms' && !work.includes('sender delay');
  const bars: [name: string, title: string, rows: Row[], scale: 'own' | 'common'][] = [
    ['requests', 'Ingestion throughput', of('requests'), 'own'],
    ['at-work', 'The whole service at work', of('at-work', isRate), 'own'],
    ['fsync', 'Acknowledged on disk', of('fsync'), 'own'],
    ['ingest', 'Storing and matching', of('ingest'), 'own'],
    ['runs', 'Function runs', of('runs', isRate), 'own'],
    ['latency', 'Latency', rows.filter((row) => !OF_THEIR_OWN.includes(row.group) && inMs(row)), 'common'],
    ['memory', 'Redis memory', of('memory'), 'common'],
    ['growth', 'Throughput of a full service relative to an empty one', of('growth', isRate), 'own'],
    ['reads', 'Read latency of a full service', of('growth', inMs), 'common'],
  ];
  const lines: [key: Series['key'], title: string, limit?: number][] = [
    ['backlog', 'Backlog at 30,000 events/s'],
    ['runs', 'Runs per second in the sustained round'],
    ['soak', 'Memory of the processes under mixed load', MAX_MB],
  ];
  const drawn = new Map<string, string>();
  for (const [name, title, shown, scale] of bars) if (shown.length > 0) drawn.set(name, barChart(title, shown, scale));
  for (const [key, title, limit] of lines) {
    const one = series.find((other) => other.key === key);
    if (one) drawn.set(`${key}-over-time`, lineChart(title, one, limit));
  }
  return drawn;
}
