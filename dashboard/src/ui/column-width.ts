/** Widths of columns that are as wide as what they show. */

/** Rows that are measured: a list may have 20,000. */
const MEASURED_MAX = 500;
/** Not `ch`, which is shorter in the header. */
const REM_PER_CHARACTER = 0.45;

interface Fit<Row> {
  header: string;
  /** What the row shows in the column, in one line. */
  text(row: Row): string;
  /** Beside the text, such as an icon and the padding of a badge. */
  extraRem?: number;
  maxRem: number;
}

/** A track as wide as the longest text of the rows, up to a maximum. */
export function fittingWidth<Row>({ header, text, extraRem = 0.5, maxRem }: Fit<Row>) {
  return (rows: readonly Row[]): string => {
    const lengths = rows.slice(0, MEASURED_MAX).map((row) => text(row).length);
    const characters = Math.max(header.length, ...lengths);
    return `minmax(0, ${Math.min(maxRem, characters * REM_PER_CHARACTER + extraRem).toFixed(2)}rem)`;
  };
}
