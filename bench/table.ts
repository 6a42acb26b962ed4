/** Rows and costs as Markdown tables. */
import type { Cost, ProcessKind } from './results.ts';
import { meetsTargets, type Row, type Target } from './row.ts';

/** A p99 without references and targets shares the line of its p50. A prefix that all rows have, such as "cluster: ", is left out. */
export function tableOf(rows: readonly Row[]): string {
  const p99s = new Map(rows.map((row) => [row, p99Of(row, rows)]));
  const shared = new Set(p99s.values());
  const shown = rows.filter((row) => !shared.has(row));
  const prefix = commonPrefix(shown.map(({ work }) => work));
  const lines = shown.map((row) => {
    const { work, value, unit, references, targets } = row;
    const p99 = p99s.get(row);
    const result = `${formatNumber(value)} ${unit}${p99 ? ` (p99 ${formatNumber(p99.value)} ${unit})` : ''}`;
    const beside = references.map(
      (one) => `${formatPercent(value / one.value)} of ${one.what} (${formatNumber(one.value)})`,
    );
    const only = references.length === 1 ? references[0]?.what : undefined;
    const wanted = targets.map((target) => targetText(target, unit, only)).join(', ');
    return [
      work.slice(prefix.length),
      result,
      beside.join(', '),
      meetsTargets(row) === false ? `**missed**: ${wanted}` : wanted,
    ];
  });
  return table(['workload', 'result', 'references', 'target'], lines);
}

/** @returns what all names begin with, up to a colon or comma; empty for a single name */
function commonPrefix([first = '', ...others]: readonly string[]): string {
  if (others.length === 0) return '';
  const ends = [...first.matchAll(/[:,] /g)].map(({ index }) => first.slice(0, index + 2));
  return ends.findLast((prefix) => others.every((name) => name.startsWith(prefix))) ?? '';
}

function p99Of({ work }: Row, rows: readonly Row[]): Row | undefined {
  if (!work.endsWith(', p50')) return undefined;
  const p99 = rows.find((row) => row.work === work.replace(/p50$/, 'p99'));
  return p99?.references.length || p99?.targets.length ? undefined : p99;
}

const PROCESS_NAMES = { web: 'web', worker: 'worker', transforms: 'transform child', redis: 'Redis' };

/** The cost of 1,000 units of each workload, and the busiest part during the measurement. */
export function costTableOf(costs: readonly Cost[]): string {
  const kinds = Object.keys(PROCESS_NAMES) as ProcessKind[];
  const lines = costs.map(({ work, perSecond, cpu, redisInBytes, redisOutBytes }) => {
    const busiest = kinds.reduce((most, kind) => (cpu[kind] > cpu[most] ? kind : most));
    return [
      work,
      ...kinds.map((kind) => `${formatNumber(cpu[kind] * 1_000)} ms`),
      `${formatNumber(perSecond)}/s: ${PROCESS_NAMES[busiest]}, ${((perSecond * cpu[busiest]) / 1_000).toFixed(2)} CPUs`,
      `${formatNumber(redisInBytes)} / ${formatNumber(redisOutBytes)}`,
    ];
  });
  const heads = kinds.map((kind) => `CPU of ${PROCESS_NAMES[kind]}`);
  return table(['1,000', ...heads, 'measured at; busiest part', 'bytes to / from Redis per unit'], lines);
}

export function table(heads: readonly string[], lines: readonly (readonly string[])[]): string {
  const rows = [heads, heads.map(() => '---'), ...lines];
  return rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** @param only what the row is compared with, if that is one thing: the cell beside names it */
export function targetText(target: Target, unit: string, only: string | undefined): string {
  if ('least' in target) return `at least ${formatNumber(target.least)} ${unit}`;
  if ('most' in target) return `at most ${formatNumber(target.most)} ${unit}`;
  if (target.of === only) return 'times' in target ? `at most ${target.times} ×` : formatPercent(target.share);
  return 'times' in target
    ? `at most ${target.times} × ${target.of}`
    : `${formatPercent(target.share)} of ${target.of}`;
}

export function formatPercent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

export function formatNumber(value: number): string {
  return Math.abs(value) >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(1);
}
