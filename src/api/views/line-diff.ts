/** The difference between two texts by lines, in the format of `diff -u`. */
import { createTwoFilesPatch, FILE_HEADERS_ONLY, formatPatch } from 'diff';

const CONTEXT_LINES = 3;
/** Maximum number of inserted and deleted lines. The time grows with the square of this number: at this maximum, at
 *  most 60 ms in texts of 65,536 characters; 600 ms for 2,000 lines. */
const EDITS_MAX = 500;

/** Texts that differ in more lines are shown as replaced as a whole. The header has both names. */
export function lineDiff(nameBefore: string, nameAfter: string, before: string, after: string): string {
  const options = { context: CONTEXT_LINES, maxEditLength: EDITS_MAX, headerOptions: FILE_HEADERS_ONLY };
  const found = createTwoFilesPatch(nameBefore, nameAfter, before, after, undefined, undefined, options);
  return found ?? replacement(nameBefore, nameAfter, before, after);
}

function replacement(nameBefore: string, nameAfter: string, before: string, after: string): string {
  const gone = marked('-', before);
  const added = marked('+', after);
  return formatPatch(
    {
      oldFileName: nameBefore,
      newFileName: nameAfter,
      oldHeader: undefined,
      newHeader: undefined,
      hunks: [
        {
          oldStart: 1,
          oldLines: gone.count,
          newStart: 1,
          newLines: added.count,
          lines: [...gone.lines, ...added.lines],
        },
      ],
    },
    FILE_HEADERS_ONLY,
  );
}

function marked(mark: '-' | '+', text: string): { count: number; lines: string[] } {
  const isTerminated = text.endsWith('\n');
  const lines = (isTerminated ? text.slice(0, -1) : text).split('\n').map((line) => mark + line);
  return { count: lines.length, lines: isTerminated ? lines : [...lines, '\\ No newline at end of file'] };
}
