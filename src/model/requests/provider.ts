/** Where providers of models expect their key, by the `format` of an inference. */

export interface Inference {
  url: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  format: string;
  /** '': none. */
  authKey: string;
}

/** The version that the API of Anthropic requires. */
const ANTHROPIC_VERSION = '2023-06-01';

/** Adds the key as the format requires it: OpenAI, its kin (Grok, DeepSeek, OpenAI's Responses) and Bedrock as a bearer token, Anthropic, Gemini and
 *  Azure in a header of their own. A key that the app has placed itself stays. */
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
