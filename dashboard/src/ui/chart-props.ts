export interface Line {
  label: string;
  /** A CSS variable's name, such as `--accent`. */
  color: string;
  /** One per time; null where nothing is known. */
  values: readonly (number | null)[];
  /** Told from others by more than colour. */
  dash?: readonly number[];
  fill?: boolean;
}

export interface ChartProps {
  label: string;
  /** Unix seconds, ascending. */
  times: readonly number[];
  lines: readonly Line[];
  /** Writes a value. */
  format(value: number): string;
  height?: number;
  /** Drawn as bars, such as a histogram. */
  bars?: boolean;
  /** The lines alone, without axes: beside a number. */
  sparkline?: boolean;
  /** Called with Unix seconds when the reader has marked a span. */
  onSelectRange?(from: number, to: number): void;
}
