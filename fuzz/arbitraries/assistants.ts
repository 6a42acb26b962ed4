/** Requests of assistants to `/mcp`: messages of the protocol, and calls of every tool. */
import fc from 'fast-check';
import { toolsOf } from '../../src/api/mcp/tools.ts';
import { routes } from '../../test/support/route-table.ts';
import type { Case } from '../case.ts';
import { jsonBody } from './bodies.ts';
import { value, word } from './hostile.ts';
import { knownIn } from './known.ts';
import { type Header, headers, METHODS, principal, withBody } from './requests.ts';
import { fitting, type Schema } from './schema.ts';

const FITS = { schemas: {}, wrongPerMille: 60 };

const calls = fc.oneof(
  ...toolsOf(routes).map(({ name, listed, route }) => {
    const known = Object.fromEntries(
      [...route.path.matchAll(/:(\w+)/g)].map(([, parameter = '']) => {
        const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
        return [parameter, fc.option(fc.constantFrom(...knownIn(path, `{${parameter}}`), 'x'), { freq: 20 })];
      }),
    );
    return fc
      .tuple(fitting(listed.inputSchema as Schema, FITS), fc.record(known))
      .map(([given, ids]) => ({ name, arguments: isObject(given) ? { ...given, ...ids } : given }));
  }),
);

const params = fc.oneof(
  { weight: 12, arbitrary: calls.map((one) => ['tools/call', one] as const) },
  {
    weight: 2,
    arbitrary: fc
      .record({ name: word, arguments: value }, { requiredKeys: [] })
      .map((one) => ['tools/call', one] as const),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(
      fc.constantFrom('initialize', 'tools/list', 'ping', 'notifications/initialized', 'resources/list', '__proto__'),
      fc.oneof(fc.constant({}), fc.record({ protocolVersion: word, capabilities: value, clientInfo: value }), value),
    ),
  },
  { weight: 1, arbitrary: fc.tuple(word, value) },
);

const message = fc
  .tuple(params, fc.oneof(fc.constantFrom<unknown>(1, 'a', null, undefined, -1, 1e300), value))
  .map(([[method, given], id]) => ({ jsonrpc: '2.0', ...(id !== undefined && { id }), method, params: given }));

const messages = fc.oneof(
  { weight: 20, arbitrary: message },
  { weight: 1, arbitrary: fc.array(message, { maxLength: 4 }) },
  { weight: 1, arbitrary: value },
);

const ofProtocol: fc.Arbitrary<Header[]> = fc
  .record({
    accept: fc.constantFrom('application/json, text/event-stream', 'application/json', '*/*', ''),
    version: fc.option(fc.constantFrom('2025-06-18', '2026-01-01', 'x', '__proto__'), { nil: undefined }),
    session: fc.option(word, { freq: 5, nil: undefined }),
  })
  .map(({ accept, version, session }): Header[] => [
    ['accept', accept],
    ...(version === undefined ? [] : [['mcp-protocol-version', version] as Header]),
    ...(session === undefined ? [] : [['mcp-session-id', encodeURIComponent(session.toWellFormed())] as Header]),
  ]);

export const assistantCases: fc.Arbitrary<Case> = fc
  .record({
    method: fc.oneof(
      { weight: 15, arbitrary: fc.constant('POST') },
      { weight: 1, arbitrary: fc.constantFrom(...METHODS) },
    ),
    body: jsonBody(messages),
    headers: headers(fc.tuple(principal, ofProtocol).map(([who, how]) => [...who, ...how])),
  })
  .map(({ method, body, headers }) =>
    withBody({ area: '/mcp', method, target: '/mcp', headers }, body, 'application/json'),
  );

function isObject(given: unknown): given is object {
  return typeof given === 'object' && given !== null && !Array.isArray(given);
}
