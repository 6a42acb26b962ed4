export interface EditorProps {
  label: string;
  value: string;
  onChange?(value: string): void;
  language: 'json' | 'javascript' | 'text';
  readOnly?: boolean;
  /** CSS length. */
  height?: string;
  /** Offered while typing, beside what the language itself has. */
  completions?: readonly { label: string; type?: string; detail?: string; info?: string }[];
  /** Marked in the text: 1-based line and column. */
  diagnostics?: readonly { line: number; column?: number; message: string }[];
}
