/** The result of an operation as text for an assistant: bounded, and without payloads if the installation wants that. */
import { ServiceError } from '../../errors.ts';
import { isJsonObject } from '../../model/values/json.ts';
import { ListPage } from '../rest/lists.ts';
import type { Reply, Route } from '../rest/route.ts';

const RESULT_MAX_CHARS = 100_000;
const TEXT_MAX_CHARS = 4_000;
const LEFT_OUT = 'left out (MCP_PAYLOADS)';

/** Fields of the API with what senders, functions and providers wrote, or values of it. Names, IDs and errors stay. */
const PAYLOAD_FIELDS: ReadonlySet<string> = new Set([
  'body',
  'cause',
  'console',
  'content',
  'data',
  'event_gist',
  'event_user',
  'fields',
  'gist',
  'headers',
  'input',
  'key',
  'keys',
  'output',
  'query',
  'query_string',
  'sample',
  'sessions',
  'user',
  'v',
  'value',
  'values',
]);
/** The message of a line is what a function wrote; every other message is that of an error. */
const LOG_FIELDS: ReadonlySet<string> = new Set([...PAYLOAD_FIELDS, 'message']);
const NONE: ReadonlySet<string> = new Set();

export function payloadFieldsOf({ operationId }: Pick<Route, 'operationId'>): ReadonlySet<string> {
  return operationId === 'listRunLogs' ? LOG_FIELDS : PAYLOAD_FIELDS;
}

/** @throws ServiceError input_invalid for a result that is too long */
export function textOf(reply: Reply, route: Pick<Route, 'operationId'>, withPayloads: boolean): string {
  const leftOut = withPayloads ? NONE : payloadFieldsOf(route);
  const data = reply.data instanceof ListPage ? reply.data.items.map((item) => JSON.parse(item)) : reply.data;
  const result = { result: shown(data ?? 'done', leftOut), ...reply.beside, ...reply.metadata };
  const text = JSON.stringify(result);
  if (text.length <= RESULT_MAX_CHARS) return text;
  throw new ServiceError('input_invalid', {
    detail: `the result has ${text.length} characters, and ${RESULT_MAX_CHARS} are given; ask for fewer entries with "limit", or for one of them`,
  });
}

function shown(value: unknown, leftOut: ReadonlySet<string>): unknown {
  if (typeof value === 'string' && value.length > TEXT_MAX_CHARS) {
    return `${value.slice(0, TEXT_MAX_CHARS)}… (${value.length} characters)`;
  }
  if (Array.isArray(value)) return value.map((item) => shown(item, leftOut));
  // Numbers that keep all digits are objects without these.
  if (!isJsonObject(value)) return value;
  const fields = Object.entries(value).map(([name, field]) => {
    const isLeftOut = leftOut.has(name) && field !== null && field !== undefined;
    return [name, isLeftOut ? LEFT_OUT : shown(field, leftOut)];
  });
  return Object.fromEntries(fields);
}
