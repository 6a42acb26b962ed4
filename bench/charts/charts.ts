/** The pictures of docs/performance.md, by file name; those for which the results have no figures are not made. */
import type { Results, Series } from '../results.ts';
import type { Group, Row } from '../row.ts';
import { barsOf } from './bar-chart.ts';
import { linesOf } from './line-chart.ts';

/** Most that a process shall take. */
const MOST_MB = 200;

export function picturesOf({ rows, series }: Results): Map<string, string> {
  const of = (group: Group, isOne: (row: Row) => boolean = () => true) =>
    rows.filter((row) => row.group === group && isOne(row));
  const isRate = ({ unit }: Row) => unit.endsWith('/s');
  const inMs = ({ unit, work }: Row) => unit === 'ms' && !work.includes('sender itself');
  const bars: [name: string, title: string, rows: Row[], scale: 'own' | 'common'][] = [
    ['requests', 'Events taken in', of('requests'), 'own'],
    ['fsync', 'Acknowledged when on disk', of('fsync'), 'own'],
    ['ingest', 'Events stored and matched', of('ingest'), 'own'],
    ['runs', 'Functions run', of('runs', isRate), 'own'],
    ['latency', 'How soon', rows.filter((row) => row.group !== 'growth' && inMs(row)), 'common'],
    ['memory', 'Bytes in Redis', of('memory'), 'common'],
    ['growth', 'Rates of a full service beside an empty one', of('growth', isRate), 'own'],
    ['reads', 'Answers of a full service', of('growth', inMs), 'common'],
  ];
  const lines: [key: Series['key'], title: string, limit?: number][] = [
    ['backlog', 'Backlog at 30,000 events/s'],
    ['runs', 'Runs in each second of the sustained round'],
    ['soak', 'Memory of the processes under mixed load', MOST_MB],
  ];
  const drawn = new Map<string, string>();
  for (const [name, title, shown, scale] of bars) if (shown.length > 0) drawn.set(name, barsOf(title, shown, scale));
  for (const [key, title, limit] of lines) {
    const one = series.find((other) => other.key === key);
    if (one) drawn.set(`${key}-over-time`, linesOf(title, one, limit));
  }
  return drawn;
}
