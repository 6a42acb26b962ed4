import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { ConnectError, type Connection, type ConnectionState, connect } from 'tidegate/connect';
import { type WebSocket, WebSocketServer } from 'ws';
import { eachCase, only } from '../../../../test/conformance/cases.ts';
import {
  type ConnectCase,
  expanded,
  namesOf,
  readTexts,
  type TalkEntry,
} from '../../../../test/conformance/connect-talk.ts';
import { expectMatch, fill, type Names } from '../../../../test/conformance/match.ts';
import { until } from '../../../../test/support/until.ts';
import { SDK } from '../../src/headers.ts';
import { type Recorded, rejection, useCleanEnv } from '../servers.ts';
import { type CallCase, requestOf } from './call.ts';
import { clientOf, functionOf } from './options.ts';
import { expectRequests, type ReplyCase, type RequestCase } from './wire.ts';

const FIELDS = {
  client: true,
  functions: true,
  program: true,
  connect: true,
  talk: true,
  states: true,
  error: true,
} as const;
const CLIENT = { id: 'shop', is_dev: true, base_url: '{{service}}' };
const STATES = ['connecting', 'ready', 'closing', 'closed'];
const ENDING: TalkEntry[] = [{ app: 'close' }, { gets: 'workerPause' }, { closes: 1_000 }];

type Incoming =
  | { kind: 'request'; request: Recorded; response: ServerResponse }
  | { kind: 'open'; socket: WebSocket }
  | { kind: 'frame'; frame: { kind: string; payload: Record<string, unknown> } };

/** A gateway that a case plays. */
class PlayedGateway {
  readonly names: Names;
  readonly incoming: Incoming[] = [];
  closing: Promise<void> | undefined;
  /** Open ones. The last one is that of the talk. */
  readonly #sockets: WebSocket[] = [];
  readonly #server = createServer(async (req, response) => {
    const { method = '', url = '', headers } = req;
    this.incoming.push({ kind: 'request', request: { method, url, headers, body: await text(req) }, response });
  });

  constructor() {
    const server = new WebSocketServer({ server: this.#server });
    server.on('connection', (socket) => {
      this.incoming.push({ kind: 'open', socket });
      socket.on('message', (data) => this.incoming.push({ kind: 'frame', frame: JSON.parse(String(data)) }));
    });
    const [language = '', version = ''] = SDK.split(':');
    this.names = { sdk: SDK, language, version };
  }

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const { port } = this.#server.address() as AddressInfo;
    Object.assign(this.names, { service: `http://127.0.0.1:${port}`, gateway: `ws://127.0.0.1:${port}` });
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.terminate();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async play(talk: readonly TalkEntry[], connecting: Promise<Connection>): Promise<void> {
    for (const entry of talk.flatMap((entry) => expanded(entry, SDK))) await this.#play(entry, connecting);
  }

  async #play(entry: TalkEntry, connecting: Promise<Connection>): Promise<void> {
    const socket = this.#sockets.at(-1);
    if ('request' in entry) {
      const { request, response } = await this.#next('request', entry);
      const body = JSON.stringify(readTexts(JSON.parse(request.body)));
      expectRequests([{ ...request, body }], [entry.request as RequestCase], this.names);
      const reply = fill(entry.reply as ReplyCase, this.names);
      if (reply === 'hang up') response.destroy();
      else response.writeHead(reply.status ?? 200).end(JSON.stringify(reply.body));
    } else if ('opens' in entry) {
      const { socket } = await this.#next('open', entry);
      expect(socket.protocol).to.equal(entry.opens);
      this.#sockets.push(socket);
    } else if ('gets' in entry) {
      const { frame } = await this.#next('frame', entry);
      const { gets: kind, ...expected } = entry;
      const { body, ...payload } = readTexts(frame.payload) as Record<string, unknown>;
      const steps = 'steps' in expected;
      const seen = body === undefined ? payload : { ...payload, ...(steps ? { steps: namesOf(body) } : { body }) };
      expectMatch({ kind: frame.kind, payload: seen }, { kind, payload: expected }, this.names);
    } else if ('sends' in entry) {
      const { sends: kind, call, ...payload } = entry;
      socket?.send(JSON.stringify({ kind, payload: call ? { ...payload, ...callOf(call as CallCase) } : payload }));
    } else if ('cuts' in entry) {
      this.#sockets.pop()?.terminate();
    } else if ('ends' in entry) {
      this.#sockets.pop()?.close(entry.ends as number, entry.reason as string);
    } else if ('closes' in entry) {
      const former = this.#sockets.shift() as WebSocket;
      const code = former.readyState === former.CLOSED ? [entry.closes] : await once(former, 'close');
      expect(code[0]).to.equal(entry.closes);
    } else {
      only(entry, ['app']);
      this.closing = (await connecting).close();
    }
  }

  async #next<K extends Incoming['kind']>(kind: K, entry: TalkEntry): Promise<Extract<Incoming, { kind: K }>> {
    await until(() => this.incoming.length > 0, { describe: () => JSON.stringify(entry) });
    const next = this.incoming.shift() as Incoming;
    expect(next.kind, JSON.stringify('frame' in next ? next.frame : {})).to.equal(kind);
    return next as Extract<Incoming, { kind: K }>;
  }
}

function callOf(call: CallCase): object {
  const { path, body } = requestOf(call);
  return { stepId: new URLSearchParams(path.split('?')[1]).get('stepId'), requestPayload: JSON.stringify(body) };
}

describe('TypeScript conforms: connect', () => {
  useCleanEnv();
  let gateway: PlayedGateway;
  beforeEach(async () => {
    gateway = new PlayedGateway();
    await gateway.start();
  });
  afterEach(() => gateway.stop());

  eachCase<ConnectCase>('connect', FIELDS, async (given) => {
    const { program = [], client: clientCase = CLIENT, connect: options = {}, talk, states = STATES, error } = given;
    const { max_concurrency: maxConcurrency, instance_id: instanceId, app_version: appVersion, ...rest } = options;
    only(rest, []);
    const client = clientOf(fill(clientCase, gateway.names) as typeof CLIENT);
    const cases = given.functions ?? [{ id: 'fn', triggers: [{ event: 'order/paid' }], program }];
    const functions = cases.map((fn) => functionOf(client, fn as Parameters<typeof functionOf>[1]));
    const seen: ConnectionState[] = [];
    const onState = (state: ConnectionState) => void seen.push(state);
    const connecting = connect({ client, functions, maxConcurrency, instanceId, appVersion, onState });
    if (error) {
      const refused = rejection(connecting);
      await gateway.play(talk, connecting);
      const { code = null, message } = (await refused) as Partial<ConnectError> & { message: string };
      expectMatch({ code, message }, error, gateway.names);
      expect((await refused) instanceof ConnectError).to.equal(error.code !== null);
      return;
    }
    await gateway.play(talk.some(({ app }) => app) ? talk : [...talk, ...ENDING], connecting);
    await gateway.closing;
    expect(seen).to.deep.equal(states);
    expect(gateway.incoming).to.deep.equal([]);
  });
});
