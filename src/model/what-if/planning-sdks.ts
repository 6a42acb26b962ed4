/** The SDKs that plan a step that they are asked not to run. Tests call each of them (test/what-if/). */

/** Known versions by the language in the sdk header: each major version with its lowest minor version. */
const OFFICIAL: ReadonlyMap<string, readonly (readonly [major: number, minor: number])[]> = new Map([
  [
    'js',
    [
      [3, 0],
      [4, 0],
    ],
  ],
  ['py', [[0, 5]]],
  ['go', [[0, 16]]],
]);
const SHOWN = 'TypeScript 3 and 4, Python from 0.5, Go from 0.16';
const SDK = /^(?:inngest-)?([a-z]+):v?(\d+)\.(\d+)/;

/** Why an official SDK is not called; undefined: it only plans.
 *  @param sdk the value of its sdk header, such as `inngest-js:v4.24.0` */
export function refusalOfSdk(sdk: string): string | undefined {
  const [, language = '', major, minor] = SDK.exec(sdk) ?? [];
  const isKnown = OFFICIAL.get(language)?.some(([known, least]) => Number(major) === known && Number(minor) >= least);
  if (isKnown) return undefined;
  return `the SDK ${JSON.stringify(sdk)} may run a step that it is asked to plan; these are known to plan: ${SHOWN}`;
}
