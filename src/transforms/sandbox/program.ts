/** Location of the program of the child process: next to this file, both in src/ and in the bundles. */
import { extname, join } from 'node:path';

export const CHILD = join(import.meta.dirname, `child${extname(import.meta.filename)}`);
