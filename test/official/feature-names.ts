/** Names of the functions of the feature apps: <app>/<function> is the event of each. */

/** The function of a feature, without its app: `step.ai.infer` is `step-ai-infer`, `` `if` of triggers `` is `if-of-triggers`. */
export function functionOf(feature: string): string {
  return feature
    .toLowerCase()
    .replaceAll(/[^a-z]+/g, '-')
    .replaceAll(/^-|-$/g, '');
}
