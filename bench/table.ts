/** Rows and costs as tables of Markdown. */
import type { Cost, PartKind } from './results.ts';
import { isReached, type Row, type Target } from './row.ts';

export function tableOf(rows: readonly Row[]): string {
  const lines = rows.map((row) => {
    const { work, value, unit, references, targets } = row;
    const beside = references.map((one) => `${percent(value / one.value)} of ${one.what} (${rounded(one.value)})`);
    const wanted = targets.map((target) => told(target, unit)).join(', ');
    return [work, `${rounded(value)} ${unit}`, beside.join(', '), wanted, verdict(row)];
  });
  return table(['workload', 'result', 'references', 'target', 'met'], lines);
}

const PART_NAMES = { web: 'web', worker: 'worker', transforms: 'transform child', redis: 'Redis' };

/** The cost of 1,000 units of each workload, and the busiest part during the measurement. */
export function costTableOf(costs: readonly Cost[]): string {
  const kinds = Object.keys(PART_NAMES) as PartKind[];
  const lines = costs.map(({ work, perSecond, cpu, redisInBytes, redisOutBytes }) => {
    const busiest = kinds.reduce((most, kind) => (cpu[kind] > cpu[most] ? kind : most));
    return [
      work,
      ...kinds.map((kind) => `${rounded(cpu[kind] * 1_000)} ms`),
      `${rounded(perSecond)}/s: ${PART_NAMES[busiest]}, ${((perSecond * cpu[busiest]) / 1_000).toFixed(2)} CPUs`,
      `${rounded(redisInBytes)} / ${rounded(redisOutBytes)}`,
    ];
  });
  const heads = kinds.map((kind) => `CPU of ${PART_NAMES[kind]}`);
  return table(['1,000', ...heads, 'measured at; busiest part', 'bytes to / from Redis per unit'], lines);
}

export function table(heads: readonly string[], lines: readonly (readonly string[])[]): string {
  const rows = [heads, heads.map(() => '---'), ...lines];
  return rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function verdict(row: Row): string {
  const reached = isReached(row);
  if (reached === undefined) return '';
  return reached ? 'yes' : '**no**';
}

function told(target: Target, unit: string): string {
  if ('least' in target) return `at least ${rounded(target.least)} ${unit}`;
  if ('most' in target) return `at most ${rounded(target.most)} ${unit}`;
  return `${percent(target.share)} of ${target.of}`;
}

export function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

export function rounded(value: number): string {
  return Math.abs(value) >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(1);
}
