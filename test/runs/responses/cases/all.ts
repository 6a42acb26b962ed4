/** Answers of functions that are broken or meant to do harm, and what becomes of the run in each case. To add one, append an entry to the file of
 *  its kind: hostile-responses.test.ts registers a function for each, with one retry, and runs them all against a real worker. */
import { DEPTH } from './depth.ts';
import type { HostileAnswer } from './entry.ts';
import { FURTHER } from './further.ts';
import { HTTP } from './http.ts';
import { LENGTHS } from './lengths.ts';
import { SHAPES } from './shapes.ts';
import { STEPS } from './steps.ts';
import { TIMES } from './times.ts';

export const HOSTILE_ANSWERS: readonly HostileAnswer[] = [
  ...DEPTH,
  ...STEPS,
  ...TIMES,
  ...LENGTHS,
  ...SHAPES,
  ...HTTP,
  ...FURTHER,
];
