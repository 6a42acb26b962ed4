/** Lists of ULIDs stored as one text, without separators. */

const ID_LENGTH = 26;

/** Splits a text of concatenated IDs. */
export function idsIn(text: string): string[] {
  return Array.from({ length: text.length / ID_LENGTH }, (_, i) => text.slice(i * ID_LENGTH, (i + 1) * ID_LENGTH));
}
