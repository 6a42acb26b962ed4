/** Canonical JSON (RFC 8785). */
import canonicalize from 'canonicalize';

/** Values without a canonical form are replaced as JavaScript does: lone surrogates by U+FFFD, numbers beyond a double by null. */
export function canonical(value: unknown): string {
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
