/** Fields of JSON values as expressions read them: own properties only, and list elements by index. */

/** undefined if there is no such field, because JSON has no `undefined`. */
export function presentField(value: unknown, key: unknown): unknown {
  if (Array.isArray(value)) return typeof key === 'bigint' || typeof key === 'number' ? value[Number(key)] : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  const name = typeof key === 'string' ? key : String(key);
  return Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}

export function isFieldPresent(value: unknown, key: unknown): boolean {
  return presentField(value, key) !== undefined;
}
