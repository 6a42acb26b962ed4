/** In the order in which they are looked for: most browsers also say that they are others. */
const BROWSERS = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const;
const SYSTEMS = [
  ['Windows', 'Windows'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Android', 'Android'],
  ['Mac OS', 'macOS'],
  ['Linux', 'Linux'],
] as const;

/** "Firefox on Linux", or what the browser says itself. */
export function browserName(userAgent: string): string {
  const [browser, system] = [BROWSERS, SYSTEMS].map((all) => all.find(([sign]) => userAgent.includes(sign))?.[1]);
  if (browser && system) return `${browser} on ${system}`;
  return browser ?? (userAgent || 'unknown browser');
}
