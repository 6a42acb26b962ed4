/** Whose a webhook is, in words. */

/** As the API names what all branch environments share (src/model/environment.ts). */
export const SHARED = 'branches';

export function ownerWords(environment: string): string {
  return environment === SHARED ? 'all branches' : environment;
}

/** The request then says which branch it is for. */
export function isShared(environment: string): boolean {
  return environment === SHARED;
}
