import type { Selection } from './queries.ts';

export interface Assignment {
  selection: Selection;
  /** Names what is assigned: "all held events". */
  label: string;
  /** The environment that the request named. */
  suggestedEnvironment?: string | undefined;
  /** After it was assigned. */
  onDone?(): void;
}
