import type { Selection } from './queries.ts';

export interface Assignment {
  which: Selection;
  /** What is to be assigned, in words. */
  label: string;
  /** The environment that the request named. */
  suggestedEnvironment?: string | undefined;
}
