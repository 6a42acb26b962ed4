export interface Line {
  label: string;
  /** A CSS variable's name, such as `--accent`. */
  color: string;
  /** One per time; null: unknown. */
  values: readonly (number | null)[];
  /** Dash pattern, so that lines differ by more than color. */
  dash?: readonly number[];
  fill?: boolean;
}

/** A time that explains what follows, such as a deploy. */
export interface ChartMark {
  /** Unix seconds. */
  at: number;
  label: string;
}

export interface ChartProps {
  label: string;
  /** Unix seconds, ascending. */
  times: readonly number[];
  lines: readonly Line[];
  /** Formats a value. */
  format(value: number): string;
  /** The interval of the last values has not ended: they will grow. */
  unfinished?: boolean;
  /** Drawn as vertical lines. */
  marks?: readonly ChartMark[];
  height?: number;
  /** No axes and no legend. */
  sparkline?: boolean;
  /** Called with Unix seconds when the user selects a range. */
  onSelectRange?(from: number, to: number): void;
}
