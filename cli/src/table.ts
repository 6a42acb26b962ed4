/** Tables of text: columns as wide as their cells; the last one is cut at the edge of the terminal. */

/** A cell is a text, or a text in a color. */
export type Cell = string | number | null | undefined | { text: string; paint: (text: string) => string };
export type Row = Cell[];

const GAP = '  ';
const ELLIPSIS = '…';

/** @param width of the terminal; undefined: cells are not cut */
export function renderTable(headings: string[], rows: Row[], width?: number): string[] {
  const texts = [headings, ...rows.map((row) => row.map(textOf))];
  const widths = headings.map((_, i) => Math.max(...texts.map((row) => lengthOf(row[i] ?? ''))));
  return [headings as Row, ...rows].map((row) => renderRow(row, widths, width));
}

/** The text with spaces up to the width. */
export function column(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - lengthOf(text)));
}

function renderRow(row: Row, widths: number[], terminalWidth: number | undefined): string {
  let used = 0;
  const cells = row.map((cell, i) => {
    const room = terminalWidth === undefined ? undefined : Math.max(1, terminalWidth - used);
    const isLast = i === row.length - 1;
    const text = cut(textOf(cell), room);
    used += (widths[i] ?? 0) + GAP.length;
    const painted = typeof cell === 'object' && cell ? cell.paint(text) : text;
    return isLast ? painted : painted + ' '.repeat(Math.max(0, (widths[i] ?? 0) - lengthOf(text)));
  });
  return cells.join(GAP).trimEnd();
}

function textOf(cell: Cell): string {
  const text = typeof cell === 'object' && cell ? cell.text : (cell ?? '');
  // Cells have one line, without characters that control the terminal.
  return String(text).replace(/\p{Cc}+/gu, ' ');
}

function cut(text: string, room: number | undefined): string {
  if (room === undefined || lengthOf(text) <= room) return text;
  return [...text].slice(0, room - 1).join('') + ELLIPSIS;
}

function lengthOf(text: string): number {
  return [...text].length;
}
