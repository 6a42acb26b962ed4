import { expect } from 'chai';
import { resultOfTransform } from '../../src/api/receive/transform-result.ts';
import {
  decideOutcome,
  logFieldsOf,
  responseOf,
  type WebhookDecisionInput,
} from '../../src/api/receive/webhook-outcome.ts';
import { ServiceError } from '../../src/errors.ts';
import { matcherOf } from '../../src/model/auth/allow-lists.ts';

const NOW = 1_700_000_000_000;
const event = (n: number) => ({ name: `a/${n}`, data: { n } });

function parse(returned: unknown) {
  return resultOfTransform(returned, JSON.stringify(returned), NOW, 60_000);
}

function messageOf(returned: unknown): string {
  try {
    return `no error: ${JSON.stringify(parse(returned))}`;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return `${error.code}: ${error.message}`;
  }
}

function decided(returned: unknown, changes: Partial<WebhookDecisionInput> = {}) {
  return decideOutcome({
    returned,
    text: JSON.stringify(returned),
    allowList: matcherOf({}),
    selection: undefined,
    resolution: { env: 'production' },
    receivedAt: NOW,
    eventMaxFutureMs: 60_000,
    defaultId: () => 'delivery-1',
    verified: true,
    ...changes,
  });
}

describe('The result of a transform', () => {
  it('may be a list of up to 100 events, even an empty one', () => {
    expect(parse([]).events).to.deep.equal([]);
    expect(parse([event(0), event(1)]).events.map(({ name }) => name)).to.deep.equal(['a/0', 'a/1']);
    expect(parse(Array(100).fill(event(1))).events).to.have.length(100);
    expect(messageOf(Array(101).fill(event(1)))).to.include('it returned 101 events; at most 100 are allowed');
  });

  it('is rejected as a whole if one event of a list is invalid, with its index and field', () => {
    for (const [bad, message] of [
      [{ data: {} }, 'event 2, field "name": got nothing'],
      [{ name: 'x' }, 'event 2, field "data": got nothing; expected a JSON object'],
      [{ name: 'inngest/x', data: {} }, 'event 2, field "name": got the string "inngest/x"'],
      [{ name: 'x', data: {}, ts: NOW + 60_001 }, 'event 2, field "ts"'],
      [[], 'event 2: got an array'],
      [null, 'event 2: got null'],
    ] as const) {
      const text = messageOf([event(0), event(1), bad, event(3)]);
      expect(text, message).to.include('transform_failed').and.include(`it returned an invalid event: ${message}`);
    }
  });

  it('has an error without an index if it is one event', () => {
    expect(messageOf({ data: {} })).to.include('it returned an invalid event: field "name": got nothing');
  });

  it('may be an object with events, a response or both', () => {
    expect(parse({ events: event(1) }).events).to.have.length(1);
    expect(parse({ events: [event(1), event(2)] }).events).to.have.length(2);
    expect(parse({ events: null, response: null })).to.deep.equal({ events: [] });
    expect(parse({ response: { status: 204 } })).to.deep.equal({
      events: [],
      response: { status: 204, headers: {}, body: '' },
    });
  });

  it('is an event if it has a name, whatever its other fields', () => {
    expect(parse({ ...event(1), events: 1, response: 2 }).events).to.have.length(1);
  });

  it('is rejected if it has fields other than events and response, so that no event is lost by a typo', () => {
    expect(messageOf({ event: event(1), response: {} })).to.include(
      'it returned the field the string "event" beside "events" and "response"',
    );
  });

  it('has an error with the index of an invalid event in events', () => {
    expect(messageOf({ events: [event(1), {}] })).to.include('event 1, field "name"');
    expect(messageOf({ events: 'x' })).to.include('it returned an invalid event: got the string "x"');
  });
});

describe('The response of a transform', () => {
  const responseFor = (response: unknown) => parse({ response }).response;

  it('has status 200, no headers and no body by default', () => {
    expect(responseFor({})).to.deep.equal({ status: 200, headers: {}, body: '' });
  });

  it('has a string as text and any other value as JSON, unless its headers say otherwise', () => {
    expect(responseFor({ body: 'ok' })).to.deep.include({
      headers: { 'content-type': 'text/plain; charset=utf-8' },
      body: 'ok',
    });
    expect(responseFor({ body: { ok: true } })).to.deep.include({
      headers: { 'content-type': 'application/json' },
      body: '{"ok":true}',
    });
    expect(responseFor({ body: false })?.body).to.equal('false');
    expect(responseFor({ headers: { 'Content-Type': 'text/xml' }, body: '<a/>' })?.headers).to.deep.equal({
      'content-type': 'text/xml',
    });
  });

  it('may have retry-after and custom headers', () => {
    const headers = { 'Retry-After': 30, 'X-Challenge': 'abc', 'x-hook-secret': 's' };
    expect(responseFor({ status: 503, headers })?.headers).to.deep.equal({
      'retry-after': '30',
      'x-challenge': 'abc',
      'x-hook-secret': 's',
    });
  });

  for (const name of [
    'set-cookie',
    'location',
    'connection',
    'transfer-encoding',
    'content-length',
    'content-encoding',
    'access-control-allow-origin',
    'content-security-policy',
    'strict-transport-security',
    'x-content-type-options',
    'x-frame-options',
    'x-accel-redirect',
    'x-sendfile',
    'x-envoy-immediate-health-check-fail',
    'x-reproxy-url',
    'x-request-id',
    'x-forwarded-host',
    'cache-control',
    'x-a b',
    'x-a\r\nset-cookie',
    'x-',
    '',
    '__proto__',
    'link',
    'refresh',
    'clear-site-data',
  ]) {
    it(`may not have the header ${JSON.stringify(name)}`, () => {
      const headers = JSON.parse(`{${JSON.stringify(name)}: "1"}`);
      expect(messageOf({ response: { headers } })).to.include(
        'expected content-type, retry-after, and names that start with x-',
      );
    });
  }

  it('is rejected if it exceeds a limit, and the error says what is allowed', () => {
    const many = Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`x-${i}`, '1']));
    for (const [response, message] of [
      ['ok', 'invalid response: got the string "ok"; expected an object with status, headers, body'],
      [[], 'got an array'],
      [{ status: 199 }, 'field "status": got the number 199; expected an integer from 200 to 599'],
      [{ status: 101 }, 'expected an integer from 200 to 599'],
      [{ status: 600 }, 'expected an integer from 200 to 599'],
      [{ status: '200' }, 'expected an integer from 200 to 599'],
      [{ code: 200 }, 'got the string "code"; expected only status, headers, body'],
      [{ headers: many }, 'at most 10'],
      [{ headers: [] }, 'expected an object of strings'],
      [{ headers: { 'x-a': 'y'.repeat(1_025) } }, 'at most 1024 visible ASCII characters'],
      [{ headers: { 'x-a': 'a\r\nset-cookie: b' } }, 'visible ASCII characters'],
      [{ headers: { 'x-a': 'é' } }, 'visible ASCII characters'],
      [{ headers: { 'x-a': ['b'] } }, 'visible ASCII characters'],
      [{ headers: { 'x-a': '1', 'X-A': '2' } }, 'each name once'],
      [{ headers: { 'content-type': 'text/html' } }, 'one of application/json, text/plain, text/xml, application/xml'],
      [{ headers: { 'content-type': 'text/plain; charset=utf-7' } }, 'one of application/json'],
      [{ body: 'x'.repeat(16_385) }, 'field "body": got the string "16385 bytes"; expected at most 16384 bytes'],
      [{ body: 'é'.repeat(8_193) }, 'at most 16384 bytes'],
      [{ status: 204, body: 'x' }, 'field "body": got the string "x"; expected none with status 204'],
    ] as const) {
      expect(messageOf({ response }), message).to.include('transform_failed').and.include(message);
    }
  });
});

describe('The events of one request', () => {
  it('have deduplication IDs made from the ID of the request and their index', () => {
    const result = decided([event(0), { ...event(1), id: 'own' }, event(2)]);
    expect('events' in result && result.events.map(({ id }) => id)).to.deep.equal([
      'delivery-1#0',
      'own',
      'delivery-1#2',
    ]);
    const single = decided([event(0)]);
    expect('events' in single && single.events[0]?.id).to.equal('delivery-1');
  });

  it('keep their IDs when the list of event names rejects some events', () => {
    const allowList = matcherOf({ eventNames: { mode: 'deny', items: ['a/0'] } });
    const result = decided([event(0), event(1)], { allowList });
    expect(result).to.have.property('outcome', 'accepted');
    expect('events' in result && result.events).to.deep.equal([{ ...event(1), id: 'delivery-1#1', verified: true }]);
  });

  it('are absent if the list is empty, and the log has the actual status', () => {
    expect(decided([])).to.deep.equal({ outcome: 'ignored' });
    const withResponse = decided({ response: { status: 202, body: 'later' } });
    expect(logFieldsOf({ decided: withResponse, ids: [], console: [] })).to.include({
      outcome: 'ignored',
      status: 202,
    });
  });

  it('are accepted whatever the status of the response', () => {
    const result = decided({ events: [event(0)], response: { status: 500, body: 'again' } });
    expect(result).to.deep.include({ outcome: 'accepted' });
    const fields = { decided: result, ids: ['1'], console: [{ level: 'log', text: 'hi' }] };
    expect(logFieldsOf(fields)).to.deep.include({ status: 500, ids: ['1'], console: [{ level: 'log', text: 'hi' }] });
    expect(responseOf(fields).response).to.include({ status: 500, body: 'again' });
  });
});
