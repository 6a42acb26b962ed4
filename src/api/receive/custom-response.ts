/** Answers whose content a provider or a transform chose. They come from the service's own origin, so a browser must never run them. */

const PROTECTION = { 'content-security-policy': "default-src 'none'; sandbox" };

/** Headers of such an answer. */
export function withProtection(headers: Record<string, string>): Record<string, string> {
  return { ...headers, ...PROTECTION };
}
