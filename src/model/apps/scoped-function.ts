/** Environment and function ID as one text. Environment names may contain slashes but no spaces; function IDs may contain both. */
export function scopedFunction(env: string, functionId: string): string {
  return `${env} ${functionId}`;
}

/** Earlier versions wrote a slash as the separator, or no environment at all. */
export function partsOfScoped(text: string): { env: string; functionId: string } {
  const end = text.search(text.includes(' ') ? / / : /\//);
  return { env: text.slice(0, end), functionId: text.slice(end + 1) };
}
