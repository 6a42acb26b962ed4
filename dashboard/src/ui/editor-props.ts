/** Offsets in the text. */
export interface Selection {
  anchor: number;
  head: number;
}

export interface EditorProps {
  label: string;
  value: string;
  onChange?(value: string): void;
  language: 'json' | 'javascript' | 'text';
  readOnly?: boolean;
  /** CSS length. */
  height?: string;
  /** Offered while typing, in addition to the language's own. */
  completions?: readonly { label: string; type?: string; detail?: string; info?: string }[];
  /** Errors to underline; line and column are 1-based. */
  diagnostics?: readonly { line: number; column?: number; message: string }[];
}
