/** The rows of the cluster as one table: a line for each measurement, a column for each layout of the cluster. */
import type { Row } from './row.ts';
import { meetsTargets } from './row.ts';
import { formatNumber, formatPercent, table, targetText } from './table.ts';

const NAME = /^cluster: (.+), (\d+ partitions(?:, a replica each)?(?:, fsync)?)$/;
const ONE_REDIS = 'one Redis';

/** @returns undefined without rows of the cluster */
export function clusterTable(rows: readonly Row[]): string | undefined {
  const found = rows.flatMap((row) => {
    const [, what, layout] = NAME.exec(row.work) ?? [];
    return what !== undefined && layout !== undefined ? [{ row, what, layout }] : [];
  });
  if (found.length === 0) return undefined;
  const layouts = [...new Set(found.map(({ layout }) => layout))];
  const lines = [...new Set(found.map(({ what }) => what))].map((what) => {
    const same = found.filter((cell) => cell.what === what);
    const cells = layouts.map((layout) => cellOf(same.find((cell) => cell.layout === layout)?.row));
    return [what, oneRedisOf(same.map(({ row }) => row)), ...cells, targetOf(same)];
  });
  return table(['workload', ONE_REDIS, ...layouts, 'target'], lines);
}

/** The value, in brackets relative to its reference, whose value is in no column unless it is one Redis. */
function cellOf(row: Row | undefined): string {
  if (!row) return '';
  const [reference] = row.references;
  const of = reference && reference.what !== ONE_REDIS ? ` of ${formatNumber(reference.value)}` : '';
  const share = reference ? ` (${formatPercent(row.value / reference.value)}${of})` : '';
  const missed = meetsTargets(row) === false ? ', **missed**' : '';
  return `${formatNumber(row.value)} ${row.unit}${share}${missed}`;
}

function oneRedisOf(rows: readonly Row[]): string {
  const [row] = rows;
  const reference = rows.flatMap(({ references }) => references).find(({ what }) => what === ONE_REDIS);
  return row && reference ? `${formatNumber(reference.value)} ${row.unit}` : '';
}

/** @returns the target, with the layouts for which it is one unless that is all */
function targetOf(rows: readonly { row: Row; layout: string }[]): string {
  const found = rows.filter(({ row }) => row.targets.length > 0);
  const row = found[0]?.row;
  const [target] = row?.targets ?? [];
  if (!row || !target) return '';
  const layouts = found.length < rows.length ? `: ${found.map(({ layout }) => layout).join('; ')}` : '';
  return `${targetText(target, row.unit, row.references[0]?.what)}${layouts}`;
}
