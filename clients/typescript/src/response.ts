/** Making sense of another server's answer, or of its absence. */

/** The fields of a JSON object; none when the text is anything else. */
export function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === 'object' ? { ...value } : {};
  } catch {
    return {};
  }
}

/** Why a fetch failed. Its own message is "fetch failed"; what happened stands in its cause. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, code } = (error.cause ?? {}) as { message?: string; code?: string };
  return message || code || error.message;
}
