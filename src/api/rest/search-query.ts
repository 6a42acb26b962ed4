/** Query parameters of lists that search. */
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { FINGERPRINT_PATTERN } from '../../model/errors/fingerprint.ts';
import { ID_PREFIX_PATTERN } from '../../model/search/id-prefix.ts';
import { isBareText, parseSearch } from '../../model/search/parse.ts';
import { SearchError } from '../../model/search/search-error.ts';
import type { SearchKind, SearchNode } from '../../model/search/syntax.ts';

export function searchQuery(kind: SearchKind) {
  const example = `${kind === 'events' ? 'data' : 'event.data'}.customer.id == "c_1"`;
  const search = z.string().optional();
  return { search: search.describe(`A condition in the language of docs/search.md, such as \`${example}\``) };
}

export const idPrefixSchema = z
  .string()
  .transform((text) => text.toUpperCase())
  .pipe(z.string().regex(ID_PREFIX_PATTERN, 'expected the beginning of an ID, such as 01KE7'));

export const fingerprintSchema = z
  .string()
  .regex(FINGERPRINT_PATTERN, 'expected the fingerprint of an error group: 32 hexadecimal digits');

/** @throws ServiceError input_invalid, with the field and the position */
export function searchOf(text: string, kind: SearchKind, what = 'query parameter "search"'): SearchNode {
  try {
    return parseSearch(text, kind);
  } catch (error) {
    if (!(error instanceof SearchError)) throw error;
    const { message, position } = error;
    const field = kind === 'events' ? 'name' : 'run_id';
    const remedy = isBareText(text)
      ? `; to find a text wherever it may be: GET /v1/search?text=…; to compare it: ${field} == "…"`
      : '';
    throw new ServiceError('input_invalid', {
      detail: `${what}, character ${position + 1}: ${message}${remedy}`,
      facts: { field: 'search', position },
    });
  }
}
