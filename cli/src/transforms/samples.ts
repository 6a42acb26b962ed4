/** Requests to try a transform on: of a file, or of a webhook's log. */
import type { ApiClient, Json } from '../api-client.ts';
import { CliError, EXIT, usageError } from '../exit-codes.ts';
import { findWebhook } from '../find-webhook.ts';
import { readFileOf } from '../input.ts';
import { at } from '../list-options.ts';

/** A sample in the form of `POST /v1/transforms/test`. */
export interface Sample {
  /** Name in the output: the ID of a logged request, or the name of the file. */
  name: string;
  body: unknown;
  headers: Record<string, string>;
  query: Record<string, string | string[]>;
}

/** A file with `body`, and optionally `headers` and `query`; `tidegate webhooks requests get --json` prints such a document. Any other file is the
 *  body. */
export async function sampleOfFile(path: string): Promise<Sample> {
  const text = await readFileOf(path);
  const given = parsed(text);
  if (!isObject(given) || !('body' in given)) return { name: path, body: text, headers: {}, query: {} };
  const { body, headers = {}, query = {} } = given;
  if (!isObject(headers) || !isObject(query)) throw usageError(`${path}: "headers" and "query" must be objects`);
  return { name: path, body: bodyOf(body), headers: joined(headers), query: query as Sample['query'] };
}

/** @param ids of requests; empty: the newest */
export async function samplesOfWebhook(
  api: ApiClient,
  webhook: string,
  ids: string[],
  last: number,
): Promise<Sample[]> {
  const { id, name } = await findWebhook(api, webhook);
  const wanted = ids.length > 0 ? ids : await newest(api, id, last);
  if (wanted.length === 0) {
    const hint = 'Send one to its URL, or give a request with --request';
    throw new CliError(`The log of ${name} has no requests`, { exitCode: EXIT.notFound, hint });
  }
  return Promise.all(wanted.map((request) => sampleOfLog(api, id, request)));
}

async function newest(api: ApiClient, id: string, count: number): Promise<string[]> {
  const found: Json[] = await api.list(at`/v1/webhooks/${id}/requests`, {}, count);
  return found.filter(({ body_bytes }) => body_bytes !== null).map(({ id }) => id);
}

async function sampleOfLog(api: ApiClient, webhookId: string, id: string): Promise<Sample> {
  const { data } = await api.get(at`/v1/webhooks/${webhookId}/requests/${id}/original`);
  if (data.body === null) throw new CliError(`The log does not have the body of the request ${id}`);
  const body = Buffer.from(data.body, 'base64');
  const query: Record<string, string[]> = {};
  for (const [name, value] of new URLSearchParams(data.query_string)) query[name] = [...(query[name] ?? []), value];
  const headers: Record<string, string> = {};
  for (const [name, value] of data.headers) headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
  return { name: id, body: body.toString('utf8'), headers, query };
}

/** The body of a request in the log of a webhook is `{encoding, content}`. */
function bodyOf(body: unknown): unknown {
  if (!isObject(body) || typeof body.content !== 'string' || Object.keys(body).length !== 2) return body;
  if (body.encoding === 'base64') return Buffer.from(body.content, 'base64').toString('utf8');
  return body.encoding === 'utf8' ? body.content : body;
}

function joined(headers: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
