/** HTTP requests of tests; never throws for a status. */
export interface HttpResponse {
  status: number;
  headers: Headers;
  /** Parsed JSON, or text. */
  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
  body: any;
}

export type RequestBody = string | Uint8Array | URLSearchParams | FormData | object;

/** Sends an object as JSON; text, bytes and forms unchanged. */
export async function request(
  method: string,
  url: string,
  { body, headers = {} }: { body?: RequestBody | undefined; headers?: Record<string, string> | undefined } = {},
): Promise<HttpResponse> {
  const asIs = typeof body === 'string' || body instanceof Uint8Array || isForm(body) || body === undefined;
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: asIs ? headers : { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: asIs ? (body as FormData) : JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, body: await bodyOf(response) };
}

/** Does not read streams, which have no end. */
async function bodyOf(response: Response): Promise<unknown> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return parsed(await response.text());
  await response.body?.cancel();
  return '';
}

function isForm(body: unknown): boolean {
  return body instanceof URLSearchParams || body instanceof FormData;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
