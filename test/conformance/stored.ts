import type { Service } from '../support/service.ts';
import { expectMatch } from './match.ts';

/** The fields of each stored event that the case names; null: missing. */
export async function expectStored(
  service: Service,
  ids: readonly string[],
  expected: readonly Record<string, unknown>[],
): Promise<void> {
  const found = await Promise.all(
    expected.map(async (event, n) => {
      const { body } = await service.stored(ids[n]);
      return Object.fromEntries(Object.keys(event).map((field) => [field, body.data[field] ?? null]));
    }),
  );
  expectMatch(found, expected);
}
