export interface ExpressionCompletion {
  label: string;
  detail?: string;
  /** Text to insert instead of the label. */
  insert?: string;
  /** Characters between the cursor and the end of the inserted text. */
  cursorBack?: number;
}

export interface ExpressionProps {
  label: string;
  value: string;
  placeholder?: string;
  onChange(value: string): void;
  /** The user begins to type. */
  onUse?(): void;
  /** Enter. */
  onSubmit(): void;
  /** @param before the text before the cursor
   *  @returns what fits there, and where the text begins that it replaces */
  complete(before: string, after: string): { from: number; options: readonly ExpressionCompletion[] } | undefined;
  /** Position of the error, in characters from 0; undefined: there is no error. */
  error?: { at: number; message: string } | undefined;
  /** ID of the text that describes the error. */
  describedBy?: string | undefined;
}
