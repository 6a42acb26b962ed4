/** Lists of ULIDs that are stored as one text, without separators. */

const ID_LENGTH = 26;

/** IDs that are stored one after another. */
export function idsIn(text: string): string[] {
  return Array.from({ length: text.length / ID_LENGTH }, (_, i) => text.slice(i * ID_LENGTH, (i + 1) * ID_LENGTH));
}
