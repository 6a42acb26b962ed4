/** The result of an operation as text for an assistant: bounded, and without payloads if the installation wants that. */
import { ServiceError } from '../../errors.ts';
import { isJsonObject } from '../../model/values/json.ts';
import { ListPage } from '../rest/lists.ts';
import type { Reply } from '../rest/route.ts';

const RESULT_MAX_CHARS = 100_000;
const TEXT_MAX_CHARS = 4_000;
const LEFT_OUT = 'left out (MCP_PAYLOADS)';

/** Fields of the API that contain data of senders, functions and providers. Error messages are not among them. */
export const PAYLOAD_FIELDS: ReadonlySet<string> = new Set([
  'body',
  'cause',
  'console',
  'content',
  'data',
  'fields',
  'headers',
  'input',
  'output',
  'query',
  'query_string',
  'sample',
  'user',
  'value',
  'values',
]);

/** @throws ServiceError input_invalid for a result that is too long */
export function textOf(reply: Reply, { withPayloads }: { withPayloads: boolean }): string {
  const data = reply.data instanceof ListPage ? reply.data.items.map((item) => JSON.parse(item)) : reply.data;
  const result = { result: shown(data ?? 'done', withPayloads), ...reply.beside, ...reply.metadata };
  const text = JSON.stringify(result);
  if (text.length <= RESULT_MAX_CHARS) return text;
  throw new ServiceError('input_invalid', {
    detail: `the result has ${text.length} characters, and ${RESULT_MAX_CHARS} are given; ask for fewer entries with "limit", or for one of them`,
  });
}

function shown(value: unknown, withPayloads: boolean): unknown {
  if (typeof value === 'string' && value.length > TEXT_MAX_CHARS) {
    return `${value.slice(0, TEXT_MAX_CHARS)}… (${value.length} characters)`;
  }
  if (Array.isArray(value)) return value.map((item) => shown(item, withPayloads));
  // Numbers that keep all digits are objects without these.
  if (!isJsonObject(value)) return value;
  const fields = Object.entries(value).map(([name, field]) => {
    const isLeftOut = !withPayloads && PAYLOAD_FIELDS.has(name) && field !== null && field !== undefined;
    return [name, isLeftOut ? LEFT_OUT : shown(field, withPayloads)];
  });
  return Object.fromEntries(fields);
}
