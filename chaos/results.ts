/** What a run found: as JSON in chaos/results, as a table at the terminal and in docs/reliability.md. */

export interface Count {
  /** What is counted. */
  name: string;
  /** What is promised, at most. */
  most: number;
  figure: number;
  unit?: string;
  /** What is behind the figure, some of it. */
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
  /** What was done to it: faults by name, and how much was sent. */
  faults: Record<string, number>;
  left_out: string[];
  load: Record<string, number>;
  counts: Count[];
}

export function violated({ counts }: Results): Count[] {
  return counts.filter(({ figure, most }) => !(figure <= most));
}

export function table(counts: readonly Count[]): string {
  const rows = counts.map(({ name, most, figure, unit }) => [
    name,
    `${most === 0 ? '' : '≤ '}${amount(most, unit)}`,
    amount(figure, unit),
  ]);
  return [
    '| counted | promised | found |',
    '| --- | --- | --- |',
    ...rows.map((cells) => `| ${cells.join(' | ')} |`),
  ].join('\n');
}

export function amount(value: number, unit?: string): string {
  const digits = Number.isInteger(value) ? 0 : 1;
  const text = value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return unit ? `${text} ${unit}` : text;
}
