/** The API's name for all branch environments together (src/model/environment.ts). */
export const ALL_BRANCHES = 'branches';

export function scopeLabel(environment: string): string {
  return environment === ALL_BRANCHES ? 'all branches' : environment;
}

/** Each request then names its branch. */
export function isAllBranches(environment: string): boolean {
  return environment === ALL_BRANCHES;
}
