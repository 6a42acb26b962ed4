import type { Selection } from './queries.ts';

export interface Assignment {
  selection: Selection;
  /** Description of the assigned events: "all held events". */
  label: string;
  /** The environment that the request named. */
  suggestedEnvironment?: string | undefined;
  /** Called after the assignment. */
  onDone?(): void;
}
