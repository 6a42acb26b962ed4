/** One row of the table: what was reached, beside its reference of the same run and what is to be reached. */
export interface Row {
  work: string;
  value: number;
  unit: string;
  /** Measured in the same run, in the same unit, where there is one. */
  reference?: { what: string; value: number };
  /** `least`: of the value; `share`: of the reference; `most`: of the value. */
  target: { least: number } | { share: number } | { most: number };
}

export function isReached({ value, reference, target }: Row): boolean {
  if ('least' in target) return value >= target.least;
  if ('most' in target) return value <= target.most;
  return reference !== undefined && value >= target.share * reference.value;
}

/** As lines of a table of Markdown. */
export function tableOf(rows: readonly Row[]): string {
  const lines = rows.map((row) => {
    const { work, value, unit, reference, target } = row;
    const share = reference
      ? `${percent(value / reference.value)} of ${reference.what} (${rounded(reference.value)})`
      : '';
    return `| ${work} | ${rounded(value)} ${unit} | ${share} | ${wanted(target, unit)} | ${isReached(row) ? 'yes' : 'no'} |`;
  });
  return ['| work | reached | reference | at least | |', '|---|---|---|---|---|', ...lines].join('\n');
}

function wanted(target: Row['target'], unit: string): string {
  if ('least' in target) return `${rounded(target.least)} ${unit}`;
  if ('most' in target) return `at most ${rounded(target.most)} ${unit}`;
  return `${percent(target.share)} of the reference`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function rounded(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(1);
}
