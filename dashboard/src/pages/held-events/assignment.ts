import type { Which } from './queries.ts';

export interface Assigning {
  which: Which;
  /** What is to be assigned, in words. */
  what: string;
  /** The environment that the request named. */
  suggested?: string | undefined;
}
