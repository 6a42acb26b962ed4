/** The option `versioning` of functions and clients: on which version of the app a run continues after a deploy. */
export type Versioning = 'latest' | 'pinned';

/** @throws TypeError */
export function checkVersioning(of: string, given: unknown): void {
  if (given === undefined || given === 'latest' || given === 'pinned') return;
  throw new TypeError(`${of}: versioning must be "latest" or "pinned", got ${JSON.stringify(given)}`);
}
