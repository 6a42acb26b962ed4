/** Responses whose content a provider or a transform chose. They come from the service's own origin, so browsers must never execute
 *  them. */

const PROTECTION = { 'content-security-policy': "default-src 'none'; sandbox" };

/** Headers of a custom response. */
export function withProtection(headers: Record<string, string>): Record<string, string> {
  return { ...headers, ...PROTECTION };
}
