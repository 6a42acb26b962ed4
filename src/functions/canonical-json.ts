/** Canonical JSON (RFC 8785). */
import canonicalize from 'canonicalize';

/** What the RFC has no form for is replaced as JavaScript would: half a surrogate pair by U+FFFD, a number beyond a double by null. */
export function canonical(value: unknown): string {
  try {
    return canonicalize(value) as string;
  } catch {
    // Escapes are read in turn: one that looks back for the beginning of a run of backslashes takes the square of its length.
    const text = JSON.stringify(value).replace(/\\(?:ud[89a-f][\da-f]{2}|.)/g, (escaped) =>
      escaped.length > 2 ? '\ufffd' : escaped,
    );
    return canonicalize(JSON.parse(text)) as string;
  }
}
