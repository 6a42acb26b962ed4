/** Parses responses and connection errors of other servers. */

/** The fields of a JSON object; none if the text is not a JSON object. */
export function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === 'object' ? { ...value } : {};
  } catch {
    return {};
  }
}

/** Why a request failed. The message of fetch is only "fetch failed": its cause has the reason. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // An error without a message summarizes the errors of several addresses.
  const { message, code } = (error.cause ?? error) as { message?: string; code?: string };
  return message || code || error.message;
}
