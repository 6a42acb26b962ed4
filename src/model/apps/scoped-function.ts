/** A function of one environment, as one text. Names of environments have slashes but no spaces; IDs of functions may have both. */
export function scopedFunction(env: string, functionId: string): string {
  return `${env} ${functionId}`;
}

/** A text of an earlier version has a slash instead, and an environment without one. */
export function partsOfScoped(text: string): { env: string; functionId: string } {
  const end = text.search(text.includes(' ') ? / / : /\//);
  return { env: text.slice(0, end), functionId: text.slice(end + 1) };
}
