/** The lines of a unified diff, with their numbers in both texts. Pure. */

export interface DiffLine {
  kind: 'same' | 'added' | 'removed' | 'gap';
  text: string;
  /** Line number in the text before; of a gap and an added line undefined. */
  before?: number;
  after?: number;
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

/** @param patch of one file, in the format of `diff -u` */
export function diffLines(patch: string): DiffLine[] {
  const lines: DiffLine[] = [];
  let [before, after] = [0, 0];
  let isInHunk = false;
  for (const line of patch.replace(/\n$/, '').split('\n')) {
    const hunk = HUNK.exec(line);
    if (hunk) {
      // The header comes before the first hunk.
      if (isInHunk || Number(hunk[1]) > 1) lines.push({ kind: 'gap', text: `From line ${hunk[2]}` });
      isInHunk = true;
      [before, after] = [Number(hunk[1]), Number(hunk[2])];
    } else if (isInHunk) {
      const text = line.slice(1);
      if (line.startsWith('+')) lines.push({ kind: 'added', text, after: after++ });
      else if (line.startsWith('-')) lines.push({ kind: 'removed', text, before: before++ });
      // "\ No newline at end of file" is no line.
      else if (!line.startsWith('\\')) lines.push({ kind: 'same', text, before: before++, after: after++ });
    }
  }
  return lines;
}
