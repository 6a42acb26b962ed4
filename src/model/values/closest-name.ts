import { closest, distance } from 'fastest-levenshtein';

/** Longer names are not compared, because no known name is that long. */
const COMPARED_NAME_MAX_LENGTH = 64;

/** The known name closest to a misspelled one; undefined if none is close. */
export function closestName(name: string, known: readonly string[]): string | undefined {
  if (known.length === 0 || name.length > COMPARED_NAME_MAX_LENGTH) return undefined;
  const plain = name.toLowerCase().replaceAll('-', '_');
  const candidate = closest(plain, [...known]);
  return distance(plain, candidate) <= Math.max(2, Math.floor(candidate.length / 3)) ? candidate : undefined;
}
