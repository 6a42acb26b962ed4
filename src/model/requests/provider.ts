/** The parts of a request in which AI providers expect their API key, by the `format` of an inference. */

export interface Inference {
  url: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  format: string;
  /** Empty if there is no key. */
  authKey: string;
}

/** The API version header that Anthropic requires. */
const ANTHROPIC_VERSION = '2023-06-01';

/** Adds the API key as the format requires: a bearer token for OpenAI, compatible APIs (Grok, DeepSeek, OpenAI's Responses) and Bedrock;
 *  a separate header for Anthropic, Gemini and Azure. A key that the app has already placed stays. */
export function withProviderKey({ url, headers, format, authKey }: Inference): Pick<Inference, 'url' | 'headers'> {
  const own = format === 'anthropic' ? { 'anthropic-version': ANTHROPIC_VERSION } : {};
  if (authKey === '') return { url, headers: { ...own, ...headers } };
  return { url, headers: { ...own, ...keyHeader(format, url, authKey), ...headers } };
}

function keyHeader(format: string, url: string, authKey: string): Record<string, string> {
  if (format === 'anthropic') return { 'x-api-key': authKey };
  if (format === 'azure-openai') return { 'api-key': authKey };
  if (format === 'gemini') return new URL(url).searchParams.has('key') ? {} : { 'x-goog-api-key': authKey };
  return { authorization: `Bearer ${authKey}` };
}
