/** Responses of broken or malicious functions, and the expected end of each run. To add one, append an entry to the
 *  file of its kind: hostile-responses.test.ts registers a function for each, with one retry, and runs them all against
 *  a real worker. */
import { DEPTH } from './depth.ts';
import type { HostileResponse } from './entry.ts';
import { FURTHER } from './further.ts';
import { HTTP } from './http.ts';
import { LENGTHS } from './lengths.ts';
import { SHAPES } from './shapes.ts';
import { STEPS } from './steps.ts';
import { TIMES } from './times.ts';

export const HOSTILE_RESPONSES: readonly HostileResponse[] = [
  ...DEPTH,
  ...STEPS,
  ...TIMES,
  ...LENGTHS,
  ...SHAPES,
  ...HTTP,
  ...FURTHER,
];
