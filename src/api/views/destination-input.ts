/** User input about a destination, and its validation. */
import { z } from 'zod';
import type { FunctionLimits } from '../../config.ts';
import { invalidField } from '../../errors.ts';
import { httpUrl } from '../../model/apps/app.ts';
import {
  DESTINATION_BODIES,
  DESTINATION_CONCURRENCY,
  DESTINATION_RETRIES,
  DESTINATION_TIMEOUT_SECONDS,
  type Destination,
  type DestinationBody,
  destinationId,
  expressionOf,
} from '../../model/apps/destination.ts';
import { MAX_RETRIES } from '../../model/apps/registered-functions.ts';
import { unmatchedName } from '../../model/apps/unmatched-triggers.ts';
import { EVENT_NAME_MAX } from '../../model/events/event.ts';
import { compile } from '../../model/expressions/expression.ts';
import { checkFlow } from '../../model/flow-control/flow-check.ts';
import { FLOW_FIELDS } from '../../model/flow-control/given-options.ts';
import { describe, isJsonObject } from '../../model/values/json.ts';
import type { DestinationFunction } from '../../store/apps/destinations.ts';
import { listUpTo, textUpTo, wholeBetween } from '../http/validation.ts';
import { checkExpression } from '../receive/check-filter.ts';

const EVENTS_MAX = 20;
const HEADERS_MAX = 20;
const HEADER_VALUE_MAX = 4_096;
const TIMEOUT_MAX_SECONDS = 300;

/** A run of a destination has one event. */
const FLOW = FLOW_FIELDS.filter((field) => field !== 'batchEvents');

/** Headers that the service or HTTP itself sets. */
const RESERVED =
  /^(?:host|content-length|connection|keep-alive|transfer-encoding|upgrade|te|trailer|expect|proxy-.*|webhook-(?:id|timestamp|signature))$/;
const HEADER_NAME = /^[a-z\d!#$%&'+.^_`|~-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

const headerName = z
  .string()
  .max(100)
  .transform((name) => name.toLowerCase())
  .refine((name) => name === '*' || (HEADER_NAME.test(name.replace(/\*$/, '')) && !RESERVED.test(name)), {
    error: 'expected the name of a header that the service does not set itself; a trailing * stands for any end',
  });

/** Values are not quoted in errors, because they may be secret. */
const headers = z
  .custom<Record<string, string>>(isHeaders, {
    error: `expected at most ${HEADERS_MAX} headers that the service does not set itself, as an object of names and values`,
  })
  .meta({ type: 'object', additionalProperties: { type: 'string' } });

function isHeaders(given: unknown): boolean {
  if (!isJsonObject(given)) return false;
  const all = Object.entries(given);
  const isHeader = ([name, value]: [string, unknown]) =>
    HEADER_NAME.test(name.toLowerCase()) &&
    !RESERVED.test(name.toLowerCase()) &&
    typeof value === 'string' &&
    value.length <= HEADER_VALUE_MAX &&
    HEADER_VALUE.test(value);
  return all.length <= HEADERS_MAX && all.every(isHeader);
}

/** null removes; an omitted field stays unchanged. */
export const destinationFields = {
  events: listUpTo(EVENTS_MAX, textUpTo(EVENT_NAME_MAX))
    .nullish()
    .describe('Names of events, each with an optional trailing `/*` or `.*`'),
  webhook: z.string().max(100).nullish().describe('ID of a webhook, instead of `events`: all events of its requests'),
  filter: textUpTo(4_096)
    .nullish()
    .meta({ description: 'CEL over `event`; null: no filter', example: 'event.data.amount > 100' }),
  body: z
    .enum(DESTINATION_BODIES)
    .optional()
    .describe(
      'event (default): the event as JSON, as `GET /v1/events/:id` shows it; data: its data alone; request: the original request of the webhook, byte for byte, once per request',
    ),
  headers: headers.nullish().describe('Headers that each request gets, such as `authorization`. Never shown again'),
  forward_headers: z
    .array(headerName)
    .max(HEADERS_MAX)
    .nullish()
    .describe(
      'With `body: request`: names of original headers that are sent along, besides `content-type`. A trailing `*` stands for any end, but not for headers with credentials',
    ),
  timeout_seconds: wholeBetween(1, TIMEOUT_MAX_SECONDS).nullish().describe(`Default: ${DESTINATION_TIMEOUT_SECONDS}`),
  retries: wholeBetween(0, MAX_RETRIES)
    .nullish()
    .describe(`Attempts after the first. Default: ${DESTINATION_RETRIES}, for 16 hours`),
  flow: z
    .record(z.enum(FLOW as [string, ...string[]]), z.unknown())
    .nullish()
    .meta({
      description: `Flow control as in the configuration of a function: ${FLOW.join(', ')}. Default: a concurrency of ${DESTINATION_CONCURRENCY}`,
      type: 'object',
      additionalProperties: true,
      example: { throttle: { limit: 10, period: '1s' } },
    }),
};

const schema = z.object({ url: httpUrl, ...destinationFields });
export const destinationUrlSchema = httpUrl.describe('URL to which the service POSTs; redirects are not followed');
export type DestinationInput = Partial<z.output<typeof schema>>;

interface Context {
  limits: FunctionLimits;
  sealHeaders(headers: Record<string, string>): NonNullable<Destination['headers']>;
  nowMs: number;
}

/** The destination with the input.
 *  @param before the destination as it was; only the name, if it is new
 *  @throws ServiceError input_invalid, naming the field */
export function withInput(
  before: DestinationFunction | { name: string },
  input: DestinationInput,
  context: Context,
): Omit<DestinationFunction, 'destination'> & { destination: Omit<Destination, 'secrets'> } {
  const { name } = before;
  const known = 'destination' in before ? inputOf(before) : undefined;
  const given = { ...known, ...withoutUndefined(input) };
  if (!given.url) throw invalidField('url', 'required; expected a URL');
  const { username, password } = new URL(given.url);
  // The URL is not quoted, because it contains a secret.
  if (username || password) throw invalidField('url', 'got one with a user name or password; give them in "headers"');
  const body = given.body ?? 'event';
  const filter = given.filter ?? undefined;
  const triggers = triggersOf({ ...given, body, filter });
  const flow = given.flow ?? { concurrency: DESTINATION_CONCURRENCY };
  rejectFlow(flow, context.limits);
  const sealed = input.headers ? context.sealHeaders(inLowerCase(input.headers)) : undefined;
  const kept = 'destination' in before && input.headers === undefined ? before.destination.headers : undefined;
  const staticHeaders = sealed ?? kept;
  return {
    id: destinationId(name),
    name,
    app: destinationId(name),
    url: given.url,
    dialect: 'service',
    retries: given.retries ?? DESTINATION_RETRIES,
    triggers,
    cancel: [],
    archived: false,
    config: { id: destinationId(name), name, ...flow },
    destination: {
      body,
      ...(filter !== undefined && { filter }),
      forwardHeaders: given.forward_headers ?? [],
      ...(staticHeaders && { headers: staticHeaders }),
      timeoutMs: (given.timeout_seconds ?? DESTINATION_TIMEOUT_SECONDS) * 1_000,
      createdAt: 'destination' in before ? before.destination.createdAt : context.nowMs,
      updatedAt: context.nowMs,
    },
  };
}

/** The input of a user, without secrets. */
export function inputOf({ url, triggers, retries, config, destination }: DestinationFunction) {
  const events = triggers.flatMap(({ event }) => event ?? []);
  const flow = FLOW.flatMap((field) => (config[field] === undefined ? [] : [[field, config[field]]]));
  return {
    url,
    events: events.length > 0 ? events : null,
    webhook: triggers[0]?.webhook ?? null,
    filter: destination.filter ?? null,
    body: destination.body,
    forward_headers: destination.forwardHeaders,
    timeout_seconds: destination.timeoutMs / 1_000,
    retries,
    flow: Object.fromEntries(flow) as Record<string, unknown>,
  };
}

function triggersOf(given: DestinationInput & { body: DestinationBody; filter: string | undefined }) {
  const { events, webhook, body, filter } = given;
  if (!events === !webhook) {
    throw invalidField(events ? 'webhook' : 'events', 'expected either "events" or "webhook"; null removes one');
  }
  if (body === 'request' && !webhook) {
    throw invalidField(
      'body',
      'got "request"; expected "event": only a destination of a webhook sends its requests on',
    );
  }
  if (filter !== undefined) checkExpression(filter, 'filter', compile);
  for (const [i, event] of (events ?? []).entries()) {
    const unmatched = unmatchedName(event);
    if (unmatched) throw invalidField(`events.${i}`, `got ${describe(event)}: ${unmatched}`);
  }
  const expression = expressionOf(body, filter);
  const condition = expression === undefined ? {} : { expression };
  return webhook ? [{ webhook, ...condition }] : (events ?? []).map((event) => ({ event, ...condition }));
}

function rejectFlow(flow: Record<string, unknown>, limits: FunctionLimits): void {
  const checking = checkFlow(flow, limits);
  let step = checking.next();
  while (!step.done) step = checking.next();
  if (step.value) throw invalidField('flow', step.value);
}

function inLowerCase(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function withoutUndefined<T extends object>(given: T): T {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as T;
}
