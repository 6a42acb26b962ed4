/** Canonical JSON (RFC 8785). */
import canonicalize from 'canonicalize';

/** What the RFC has no form for is replaced as JavaScript would: half a surrogate pair by U+FFFD, a number beyond a double by null. */
export function canonical(value: unknown): string {
  try {
    return canonicalize(value) as string;
  } catch {
    const text = JSON.stringify(value).replace(/(?<=(?<!\\)(?:\\\\)*)\\ud[89a-f][\da-f]{2}/g, '\ufffd');
    return canonicalize(JSON.parse(text)) as string;
  }
}
