/** Requests of apps: registrations and `/v0`; and their responses to calls, which host.ts sends. */
import fc from 'fast-check';
import type { Case } from '../case.ts';
import { jsonBody } from './bodies.ts';
import { flow } from './flow.ts';
import { address, number, value, word } from './hostile.ts';
import { type Header, headers, urlText, withBody } from './requests.ts';

const PROOF: Header[] = [
  ['authorization', '{{app-proof}}'],
  ['x-service-sdk', 'fuzz:v1'],
];
const proof = fc.oneof(
  { weight: 9, arbitrary: fc.constant(PROOF) },
  { weight: 1, arbitrary: fc.constant<Header[]>([]) },
);

const expression = fc.oneof(
  fc.constantFrom(
    'event.data.total > 10',
    'event.data.a.b.c.d == null',
    'event.data.list.all(x, x > 1)',
    '[1,2,3].all(a,[1,2,3].all(b,[1,2,3].all(c,[1,2,3].all(d,a+b+c+d>0))))',
    'event.data.name.matches("^(a+)+$")',
    'cel.bind(a, "x" + "x", a + a == "y")',
    `${'('.repeat(300)}true${')'.repeat(300)}`,
    `event${'.a'.repeat(2_000)}`,
    `${'!'.repeat(1_000)}true`,
    `1${'+1'.repeat(3_000)} > 0`,
    `event.name == "${'x'.repeat(4_000)}"`,
    'size(event.data) > 0 ? true : false',
    'async.data.x == event.data.x',
    '[async.data.x].exists(a, a in [[event.data.x], event.data.x].map(b, b))',
    '"n-" + async.data.x >= "n-" + event.data.x',
    '1 / 0 == 1',
    '9223372036854775807 + 1 > 0',
  ),
  word,
);
const time = fc.oneof(fc.constantFrom('1s', '7d', '99999999999999w', '0s', `${'1s'.repeat(500)}`, '-1h'), word);

const wireFunction = fc
  .record(
    {
      id: fc.oneof(fc.constantFrom('fuzzed-a', 'fuzzed-b', 'fuzzed-c'), word),
      name: word,
      triggers: fc.array(
        fc.oneof(
          fc.record(
            { event: fc.oneof(fc.constantFrom('fuzzed/a', 'fuzzed/*'), word), expression },
            { requiredKeys: ['event'] },
          ),
          fc.record({
            cron: fc.oneof(fc.constantFrom('* * * * *', '0 0 31 2 *', `${'*/1,'.repeat(500)}1 * * * *`), word),
          }),
          value,
        ),
        { maxLength: 3 },
      ),
      cancel: fc.array(fc.record({ event: word, if: expression, timeout: time }, { requiredKeys: ['event'] }), {
        maxLength: 2,
      }),
      steps: fc.oneof(
        fc
          .record({ url: address, attempts: fc.oneof(fc.integer({ min: 0, max: 3 }), number) })
          .map(({ url, attempts }) => ({
            step: { id: 'step', runtime: { type: 'http', url }, retries: { attempts } },
          })),
        value,
      ),
      flow,
    },
    { requiredKeys: ['id', 'triggers', 'steps', 'flow'] },
  )
  .map(({ flow, ...rest }) => ({ ...rest, ...flow }));

const registration = fc.record(
  {
    url: address,
    appName: fc.oneof(fc.constantFrom('fuzzed', 'fuzzed-2'), word),
    sdk: word,
    framework: word,
    functions: fc.oneof(
      { weight: 9, arbitrary: fc.array(wireFunction, { maxLength: 3 }) },
      { weight: 1, arbitrary: value },
    ),
  },
  { requiredKeys: ['url', 'appName', 'functions'] },
);

const registrations: fc.Arbitrary<Case> = fc
  .record({ headers: headers(proof), pieces: jsonBody(registration) })
  .map(({ headers, pieces }) =>
    withBody(
      { area: 'POST /fn/register', method: 'POST', target: '/fn/register', headers },
      pieces,
      'application/json',
    ),
  );

const data: fc.Arbitrary<Case> = fc
  .record({
    id: fc.oneof(fc.constant('{{run}}'), urlText),
    what: fc.constantFrom('batch', 'actions', '', 'x'),
    headers: headers(proof),
  })
  .map(({ id, what, headers }) =>
    withBody({ area: '/v0', method: 'GET', target: `/v0/runs/${id}/${what}`, headers }, undefined),
  );

const level = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom('debug', 'info', 'warn', 'error') },
  { weight: 1, arbitrary: word },
);
const logLine = fc.record(
  {
    at: fc.oneof(fc.constantFrom(Date.UTC(2026, 0, 1), 8_640_000_000_000_001), number),
    level,
    message: word,
    fields: fc.oneof(fc.dictionary(word, value), value),
    step: fc.oneof(fc.constant('a'.repeat(40)), word),
  },
  { requiredKeys: ['at', 'level', 'message'] },
);
const logBatch = fc.record(
  {
    batch: fc.oneof(fc.constantFrom('first', 'second', ''), word),
    attempt: fc.oneof(fc.constantFrom(0, 1, 1_001), number),
    lines: fc.oneof(
      { weight: 9, arbitrary: fc.array(logLine, { maxLength: 3 }) },
      { weight: 1, arbitrary: fc.oneof(fc.constant(Array(201).fill(null)), value) },
    ),
    dropped: fc.oneof(fc.constantFrom(0, -1), number),
  },
  { requiredKeys: ['batch', 'attempt', 'lines'] },
);

const logs: fc.Arbitrary<Case> = fc
  .record({
    id: fc.oneof(fc.constantFrom('{{run}}', '{{archived-run}}'), urlText),
    headers: headers(proof),
    pieces: jsonBody(fc.oneof({ weight: 9, arbitrary: logBatch }, { weight: 1, arbitrary: value })),
  })
  .map(({ id, headers, pieces }) =>
    withBody(
      { area: 'POST /v0/runs/{id}/logs', method: 'POST', target: `/v0/runs/${id}/logs`, headers },
      pieces,
      'application/json',
    ),
  );

const hash = fc.oneof(fc.constantFrom('a'.repeat(40), '0'.repeat(40), 'b'.repeat(41)), word);
const operation = fc.oneof(
  fc.record(
    {
      id: hash,
      op: fc.constantFrom(
        'Step',
        'StepRun',
        'StepPlanned',
        'StepError',
        'StepFailed',
        'Sleep',
        'WaitForEvent',
        'InvokeFunction',
        'RunComplete',
        'StepNotFound',
        'Gateway',
        'AIGateway',
        'WaitForSignal',
        'DeferAdd',
        'DeferAbort',
      ),
      name: word,
      displayName: word,
      opts: fc.oneof(
        fc.record(
          {
            duration: time,
            timeout: time,
            event: fc.oneof(fc.constantFrom('fuzz/cancel', 'fuzz/a'), word),
            if: expression,
            function_id: fc.oneof(fc.constantFrom('fuzz-any', 'fuzz-answers'), word),
            signal: word,
            conflict: fc.constantFrom('fail', 'replace', 'other'),
            fn_slug: word,
            target_hashed_id: hash,
            input: value,
            // Nobody listens there.
            url: fc.oneof(fc.constantFrom('http://127.0.0.1:9/', 'http://169.254.169.254/', 'ftp://x/'), word),
            method: fc.oneof(fc.constantFrom('get', 'POST', 'CONNECT'), word),
            headers: fc.oneof(fc.dictionary(word, word), value),
            body: value,
            auth_key: word,
            format: fc.constantFrom('openai-chat', 'gemini', 'anthropic', 'x'),
            payload: fc.oneof(fc.record({ data: value }), value),
          },
          { requiredKeys: [] },
        ),
        value,
      ),
      data: value,
      error: fc.oneof(fc.record({ name: value, message: value, stack: value }), value),
    },
    { requiredKeys: ['id', 'op'] },
  ),
  value,
);

const answer = fc.record(
  {
    status: fc.oneof(fc.constantFrom(200, 206, 206, 206, 400, 500, 301, 429), fc.integer({ min: 200, max: 599 })),
    headers: fc.dictionary(
      fc.constantFrom(
        'retry-after',
        'x-service-no-retry',
        'x-inngest-sdk',
        'content-type',
        'location',
        'content-encoding',
      ),
      fc.oneof(
        fc.constantFrom('1', 'true', '99999999999', 'Thu, 01 Jan 1970 00:00:00 GMT', `${'9'.repeat(400)}`, 'gzip'),
        word,
      ),
      { maxKeys: 2 },
    ),
    body: fc.oneof(jsonBody(fc.array(operation, { maxLength: 4 })), jsonBody(value)),
    cut: fc.boolean(),
  },
  { requiredKeys: ['status', 'body'] },
);

/** The event contains the response. */
const answers: fc.Arbitrary<Case> = answer.map((played) =>
  withBody(
    { area: 'function answer', method: 'POST', target: '/e/{{event-key}}', headers: [] },
    [JSON.stringify({ name: 'fuzz/answer', data: { answer: played } })],
    'application/json',
  ),
);

export const appCases: fc.Arbitrary<Case> = fc.oneof(
  { weight: 3, arbitrary: registrations },
  { weight: 1, arbitrary: data },
  { weight: 1, arbitrary: logs },
  { weight: 4, arbitrary: answers },
);
