/** Keys of the connect room. */
import { channel, hash, set, string, zset } from './key-declaration.ts';

export const CONNECT_KEYS = {
  connectSession: string(
    'connect-session:<token hash>',
    'What a session token of `/v0/connect/start` permits: one WebSocket.',
    { owner: 'connect/sessions.ts', ttl: '1 min', size: '1 JSON object' },
  ),
  connections: zset('connections:<env>', 'Connections by expiry (ms).', {
    owner: 'connect/connections.ts',
    ttl: '15 s, renewed',
    size: '`CONNECTIONS_MAX` entries',
  }),
  connection: hash(
    'connection:<env>:<connection ID>',
    'Connection: gateway, concurrency, functions and version of each app, and JSON.',
    { owner: 'connect/connections.ts', ttl: '15 s, renewed', size: '4 fields, and 2 per app' },
  ),
  readyConnections: zset('ready-connections:<env>:<app>', 'Connections that take calls, by expiry (ms).', {
    owner: 'connect/connections.ts',
    ttl: '15 s, renewed',
    size: '1 entry per connection',
  }),
  connectionCalls: zset('connection-calls:<env>:<connection ID>', 'Calls in progress by end of lease (ms).', {
    owner: 'connect/connect-calls.ts',
    ttl: 'that of its calls',
    size: '1 entry per call in progress',
  }),
  connectFunctions: set('connect-functions:<env>:<hash>', 'Functions with which an app has connected.', {
    owner: 'connect/connections.ts',
    ttl: '1 min, renewed',
    size: '1 entry per function (quota)',
  }),
  connectInstance: string('connect-instance:<env>:<hash>', 'Instance with these functions was connected.', {
    owner: 'connect/connections.ts',
    ttl: '1 min, renewed',
    size: 'empty',
  }),
  connectCall: hash('connect-call:<env>:<call ID>', 'Call in progress: connection, lease, caller, reply.', {
    owner: 'connect/connect-calls.ts',
    ttl: '5 min, renewed',
    size: 'reply; body above 64 KB until acknowledged',
  }),
  gateway: channel('gateway:<gateway ID>', 'Calls for connections of the gateway.', {
    owner: 'connect/connect-calls.ts',
    ttl: '–',
    size: '64 KB of a body per message',
  }),
  connectCaller: channel('connect-caller:<caller ID>', 'Calls with a reply or refusal.', {
    owner: 'connect/connect-calls.ts',
    ttl: '–',
    size: '1 ID per message',
  }),
  connectionChanges: channel('connection-changes', 'Apps with a new connection.', {
    owner: 'connect/connections.ts',
    ttl: '–',
    size: '1 JSON object per message',
  }),
};
