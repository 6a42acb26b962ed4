/** Rows and costs as tables of Markdown. */
import type { Cost } from './results.ts';
import { isReached, type Row, type Target } from './row.ts';

export function tableOf(rows: readonly Row[]): string {
  const lines = rows.map((row) => {
    const { work, value, unit, references, targets } = row;
    const beside = references.map((one) => `${percent(value / one.value)} of ${one.what} (${rounded(one.value)})`);
    const wanted = targets.map((target) => told(target, unit)).join(', ');
    return [work, `${rounded(value)} ${unit}`, beside.join(', '), wanted, verdict(row)];
  });
  return table(['work', 'reached', 'beside', 'to be reached', ''], lines);
}

/** What 1,000 of each cost. */
export function costTableOf(costs: readonly Cost[]): string {
  const lines = costs.map(({ work, cpu, redisInBytes, redisOutBytes }) => [
    work,
    ...[cpu.web, cpu.worker, cpu.transforms, cpu.redis].map((seconds) => (seconds * 1_000).toFixed(0)),
    rounded(redisInBytes),
    rounded(redisOutBytes),
  ]);
  const parts = ['web', 'worker', 'transform child', 'Redis'].map((part) => `${part}, CPU ms per 1,000`);
  return table(['of', ...parts, 'bytes to Redis, each', 'bytes from Redis, each'], lines);
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
