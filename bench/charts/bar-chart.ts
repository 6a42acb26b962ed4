/** Rows as bars: the result, its references below, and a line at the target. */
import { meetsTargets, type Row, targetValue } from '../row.ts';
import { formatNumber } from '../table.ts';
import { line, rect, svg, text } from './svg.ts';

const WIDTH = 800;
const LEFT = 16;
/** Values are to the right of the bars. */
const BAR_WIDTH = 470;
const TOP = 48;
const RESULT_HEIGHT = 16;
const REFERENCE_HEIGHT = 10;
const GAP = 18;

/** @param scale `own`: each row fills the width, because its unit differs; `common`: all rows share one scale */
export function barChart(title: string, rows: readonly Row[], scale: 'own' | 'common'): string {
  const widest = Math.max(...rows.map(largest));
  const parts: string[] = [];
  let y = TOP;
  for (const row of rows) {
    const most = scale === 'common' ? widest : largest(row);
    parts.push(...drawn(row, y, (value) => (BAR_WIDTH * Math.max(0, value)) / most));
    y += heightOf(row);
  }
  parts.push(text(LEFT, y + 4, legend(scale), 'small'));
  return svg({ title, description: rows.map(inWords).join(' '), width: WIDTH, height: y + 20, body: parts.join('\n') });
}

function drawn(row: Row, y: number, x: (value: number) => number): string[] {
  const barY = y + 6;
  const wanted = wantedIn(row);
  const reached = meetsTargets(row) === false ? ' (missed)' : '';
  const figure = `${formatNumber(row.value)} ${row.unit}${reached}`;
  const references = row.references.flatMap(({ what, value }, i) => {
    const at = barY + RESULT_HEIGHT + 3 + i * (REFERENCE_HEIGHT + 3);
    const words = `${what}: ${formatNumber(value)}`;
    return [
      rect(LEFT, at, x(value), REFERENCE_HEIGHT, 'beside'),
      text(LEFT + BAR_WIDTH + 12, at + REFERENCE_HEIGHT - 1, words, 'small'),
    ];
  });
  return [
    text(LEFT, y, row.work),
    rect(LEFT, barY, BAR_WIDTH, RESULT_HEIGHT, 'track'),
    rect(LEFT, barY, x(row.value), RESULT_HEIGHT, 'own'),
    text(LEFT + BAR_WIDTH + 12, barY + RESULT_HEIGHT - 4, figure),
    ...wanted.map((value) => line(LEFT + x(value), barY - 3, LEFT + x(value), barY + RESULT_HEIGHT + 3, 'wanted')),
    ...references,
  ];
}

function heightOf({ references }: Row): number {
  return 6 + RESULT_HEIGHT + references.length * (REFERENCE_HEIGHT + 3) + GAP + 12;
}

function wantedIn(row: Row): number[] {
  return row.targets.map((target) => targetValue(row, target)).filter((value) => value !== undefined);
}

function largest(row: Row): number {
  return Math.max(row.value, ...row.references.map(({ value }) => value), ...wantedIn(row));
}

function legend(scale: 'own' | 'common'): string {
  const bars = 'blue: result; gray: reference of the same run; vertical line: target';
  return scale === 'own' ? `${bars}; each row has its own scale` : bars;
}

function inWords(row: Row): string {
  const beside = row.references.map(({ what, value }) => `; ${what}: ${formatNumber(value)}`).join('');
  const wanted = wantedIn(row).map((value) => `; target: ${formatNumber(value)}`);
  return `${row.work}: ${formatNumber(row.value)} ${row.unit}${beside}${wanted.join('')}.`;
}
