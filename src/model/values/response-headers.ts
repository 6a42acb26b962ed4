/** Headers that third parties may choose for responses of the service's own origin: only harmless ones. */

const OWN_NAME = /^x-[a-z0-9-]{1,98}$/;
/** Headers that start with x- and affect browsers or proxies. */
const MEANINGFUL =
  /^x-(?:request-id|content-|frame-|xss-|webkit-|permitted-|dns-|download-|ua-|robots-|accel-|sendfile|lighttpd-|litespeed-|forwarded|original-|rewrite-|real-|http-|service-|powered-|envoy-|reproxy-)/;
const VISIBLE_ASCII = /^[\x20-\x7e]*$/;

export const MAX_HEADER_CHARS = 1_024;

/** Whether the header starts with x- and does not affect browsers or proxies.
 *  @param name in lower case */
export function isOwnHeader(name: string): boolean {
  return OWN_NAME.test(name) && !MEANINGFUL.test(name);
}

export function isHeaderValue(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_HEADER_CHARS && VISIBLE_ASCII.test(value);
}
