/** An SDK as an app names it: `js:v3.2.1`. */
const SDK = /^([\w.-]+):v?(.+)$/;
const LANGUAGES: Record<string, string> = {
  js: 'TypeScript',
  ts: 'TypeScript',
  py: 'Python',
  python: 'Python',
  go: 'Go',
};

/** Its language and version.
 *  @returns undefined: it names itself in another way */
export function parseSdk(sdk: string | null): { language: string; version: string } | undefined {
  const [, name = '', version] = SDK.exec(sdk ?? '') ?? [];
  return version === undefined ? undefined : { language: LANGUAGES[name.toLowerCase()] ?? name, version };
}
