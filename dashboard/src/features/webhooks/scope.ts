/** Whose a webhook is, in words. */

/** As the API names what all branch environments share (src/model/environment.ts). */
export const ALL_BRANCHES = 'branches';

export function scopeLabel(environment: string): string {
  return environment === ALL_BRANCHES ? 'all branches' : environment;
}

/** The request then says which branch it is for. */
export function isAllBranches(environment: string): boolean {
  return environment === ALL_BRANCHES;
}
