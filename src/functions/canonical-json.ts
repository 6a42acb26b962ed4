/** Canonical JSON (RFC 8785). */
import canonicalize from 'canonicalize';

/** Values without a canonical form are replaced as JavaScript does: lone surrogates by U+FFFD, numbers beyond a double by null. */
export function canonical(value: unknown): string {
  if (value !== undefined && isInOrder(value)) {
    const text = JSON.stringify(value);
    // How canonical JSON writes a lone surrogate.
    if (!text.includes('\\ud')) return text;
  }
  try {
    return canonicalize(value) as string;
  } catch {
    // Consumes escapes one by one: looking back for the start of a run of backslashes would take quadratic time.
    const text = JSON.stringify(value).replace(/\\(?:ud[89a-f][\da-f]{2}|.)/g, (escaped) =>
      escaped.length > 2 ? '\ufffd' : escaped,
    );
    return canonicalize(JSON.parse(text)) as string;
  }
}

/** Whether JSON.stringify writes all keys in canonical order, as it does in a quarter of the time. */
function isInOrder(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isInOrder);
  const keys = Object.keys(value);
  return keys.every(
    (key, i) => (i === 0 || (keys[i - 1] as string) < key) && isInOrder((value as Record<string, unknown>)[key]),
  );
}
