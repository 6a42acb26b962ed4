import { courseText as courseOf, whatHappens } from '../../../../../cli/src/what-if/words.ts';
import type { WhatIf } from '../../../api/types.ts';
import { capitalize } from '../../../lib/capitalize.ts';

export {
  countsText,
  RUNS,
  resultsText,
  SCOPES,
  skipText,
  stopText,
  triggerTexts,
} from '../../../../../cli/src/what-if/words.ts';

export type FunctionInWhatIf = WhatIf['functions'][number];
export type Example = FunctionInWhatIf['examples'][number];

const asIs = (text: string) => text;

/** A sentence without its period. */
export function causeText(example: Example): string {
  return capitalize(whatHappens(example, asIs));
}

export function courseText(course: Example['recorded']): string | undefined {
  return courseOf(course, asIs);
}
