/** Results of a run: JSON in chaos/results, a table in the terminal and in docs/reliability.md. */

export interface Count {
  /** Name of the check. */
  name: string;
  /** The largest result that passes. */
  most: number;
  figure: number;
  unit?: string;
  /** Some details behind the figure. */
  findings?: string[];
}

export interface Results {
  seed: number;
  command: string;
  /** When it ended, ISO 8601. */
  at: string;
  machine: { cpu: string; cores: number; node: string; redis: string };
  minutes: number;
  languages: string[];
  /** How often each fault was injected. */
  faults: Record<string, number>;
  left_out: string[];
  load: Record<string, number>;
  counts: Count[];
}

export function exceededLimits({ counts }: Pick<Results, 'counts'>): Count[] {
  return counts.filter(({ figure, most }) => !(figure <= most));
}

export function table(counts: readonly Count[]): string {
  const rows = counts.map(({ name, most, figure, unit }) => [
    name,
    `${most === 0 ? '' : '≤ '}${formatNumber(most, unit)}`,
    formatNumber(figure, unit),
  ]);
  return ['| check | limit | result |', '| --- | --- | --- |', ...rows.map((cells) => `| ${cells.join(' | ')} |`)].join(
    '\n',
  );
}

export function formatNumber(value: number, unit?: string): string {
  const digits = Number.isInteger(value) ? 0 : 1;
  const text = value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return unit ? `${text} ${unit}` : text;
}
