/** Representation of IDs and texts in Postgres. */
import { hexOf, ID_PATTERN, idOfHex } from '../model/ids.ts';

/** A ULID as a UUID with the same 128 bits, in the same order. */
export function toUuid(id: string): string {
  const hex = hexOf(id);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

export function fromUuid(uuid: string): string {
  return idOfHex(uuid.replaceAll('-', ''));
}

/** Like `toUuid`, for several texts. Texts that are not ULIDs are left out, because no object has them as its ID. */
export function toUuids(ids: readonly string[]): string[] {
  return ids.filter((id) => ID_PATTERN.test(id)).map(toUuid);
}

/** Postgres does not support U+0000, and UTF-8 no lone surrogates. For texts by which rows are found; displayed texts come from JSON. */
export function toText(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}
