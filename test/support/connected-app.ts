/** An instance of an app that connects, message by message: tests decide what it acknowledges, extends and replies. */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { MessageOf } from '../../src/functions/connect/codec.ts';
import {
  ConnectionReady,
  ExecutorRequest,
  ExtendLease,
  ExtendLeaseAck,
  Frame,
  frame,
  KIND,
  REPLY_STATUS,
  Reply,
  ReplyAck,
  RequestAck,
  StartRequest,
  StartResponse,
  SUBPROTOCOL,
  WorkerConnectRequest,
} from '../../src/functions/connect/messages.ts';
import type { FunctionSpec } from './app-host.ts';
import { until } from './until.ts';

export type CallRequest = MessageOf<typeof ExecutorRequest>;

export interface InstanceOptions {
  app?: string;
  instanceId?: string;
  functions?: FunctionSpec[];
  concurrency?: number;
  headers?: Record<string, string>;
  /** Text instead of its functions. */
  rawFunctions?: string;
}

export interface StartAnswer {
  status: number;
  text: string;
  start: MessageOf<typeof StartResponse>;
}

export async function startConnection(url: string, headers: Record<string, string> = {}): Promise<StartAnswer> {
  const response = await fetch(`${url}/v0/connect/start`, {
    method: 'POST',
    headers: { 'content-type': 'application/protobuf', ...headers },
    body: StartRequest.encode({}),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const isOk = response.status === 200;
  return {
    status: response.status,
    text: isOk ? '' : bytes.toString(),
    start: StartResponse.decode(isOk ? bytes : Buffer.alloc(0)),
  };
}

export class ConnectedInstance {
  readonly id: string;
  readonly socket: WebSocket;
  /** Received frames. */
  readonly frames: { kind: number; payload: Uint8Array }[] = [];
  readonly calls: CallRequest[] = [];
  #taken = 0;

  private constructor(id: string, socket: WebSocket) {
    this.id = id;
    this.socket = socket;
    socket.on('error', () => undefined);
    socket.on('message', (data: Buffer) => {
      const { kind, payload } = Frame.decode(data);
      this.frames.push({ kind, payload });
      if (kind === KIND.gatewayExecutorRequest) this.calls.push(ExecutorRequest.decode(payload));
    });
  }

  /** Opens a WebSocket and waits for the greeting. */
  static async open(endpoint: string, id = ''): Promise<ConnectedInstance> {
    const instance = new ConnectedInstance(id, new WebSocket(endpoint, [SUBPROTOCOL]));
    await once(instance.socket, 'open');
    await instance.frame(KIND.gatewayHello);
    return instance;
  }

  /** Connects and registers; ready for calls. @throws when the gateway closes the WebSocket, with its reason */
  static async connect(url: string, options: InstanceOptions = {}): Promise<ConnectedInstance> {
    const { start, status, text } = await startConnection(url, options.headers);
    if (status !== 200) throw new Error(`start: ${status} ${text}`);
    const instance = await ConnectedInstance.open(start.gatewayEndpoint, start.connectionId);
    await instance.register(start, options);
    return instance;
  }

  async register(
    { connectionId, sessionToken }: MessageOf<typeof StartResponse>,
    options: InstanceOptions,
  ): Promise<void> {
    const { app = 'shop', instanceId = 'host-1', functions = [], concurrency, rawFunctions } = options;
    const payload = WorkerConnectRequest.encode({
      connectionId,
      instanceId,
      authData: { sessionToken, syncToken: '' },
      apps: [
        {
          appName: app,
          appVersion: undefined,
          functions: Buffer.from(rawFunctions ?? JSON.stringify(functions.map((fn) => configOf(app, fn)))),
        },
      ],
      sdkVersion: 'v1.0.0',
      sdkLanguage: 'test',
      ...(concurrency !== undefined && { maxWorkerConcurrency: concurrency }),
    });
    const closed = once(this.socket, 'close').then(([code, reason]) => new Error(`closed: ${code} ${reason}`));
    this.socket.send(frame(KIND.workerConnect, payload));
    const result = await Promise.race([this.frame(KIND.gatewayConnectionReady), closed]);
    if (result instanceof Error) throw result;
    ConnectionReady.decode(result);
  }

  /** The next call. */
  async nextCall(): Promise<CallRequest> {
    await until(() => this.calls.length > this.#taken, {
      describe: `instance ${this.id} gets call ${this.#taken + 1}`,
    });
    return this.calls[this.#taken++] as CallRequest;
  }

  /** The payload of the first frame of the kind. @throws when the WebSocket is closed before */
  async frame(kind: number): Promise<Uint8Array> {
    const next = () => this.frames.find((one) => one.kind === kind);
    const isClosed = () => this.socket.readyState === WebSocket.CLOSED;
    const describe = `instance ${this.id} gets a frame of kind ${kind}`;
    await until(() => next() ?? isClosed(), { describe });
    const found = next();
    if (!found) throw new Error(`Closed before ${describe}`);
    this.frames.splice(this.frames.indexOf(found), 1);
    return found.payload;
  }

  acknowledge({ requestId }: CallRequest): void {
    this.send(KIND.workerRequestAck, RequestAck.encode({ requestId }));
  }

  /** @returns the new lease ID; undefined: the lease is lost */
  async extend({ requestId, leaseId }: CallRequest): Promise<string | undefined> {
    this.send(KIND.workerRequestExtendLease, ExtendLease.encode({ requestId, leaseId }));
    return ExtendLeaseAck.decode(await this.frame(KIND.workerRequestExtendLeaseAck)).newLeaseId;
  }

  /** Resolves when the gateway has confirmed it. */
  async complete(call: CallRequest, output: unknown = null): Promise<void> {
    await this.reply({
      requestId: call.requestId,
      status: REPLY_STATUS.done,
      body: Buffer.from(JSON.stringify(output)),
    });
  }

  async reply(reply: Partial<MessageOf<typeof Reply>>): Promise<void> {
    this.send(KIND.workerReply, Reply.encode({ sdkVersion: 'test:v1.0.0', ...reply }));
    ReplyAck.decode(await this.frame(KIND.workerReplyAck));
  }

  send(kind: number, payload?: Uint8Array): void {
    this.socket.send(frame(kind, payload));
  }

  /** Breaks the connection. */
  async terminate(): Promise<void> {
    const closed = once(this.socket, 'close');
    this.socket.terminate();
    await closed;
  }

  async close(): Promise<void> {
    if (this.socket.readyState === WebSocket.CLOSED) return;
    const closed = once(this.socket, 'close');
    this.socket.close();
    await closed;
  }
}

function configOf(app: string, { id, triggers, retries, ...options }: FunctionSpec): object {
  return {
    id: `${app}-${id}`,
    name: id,
    triggers,
    steps: {
      step: {
        id: 'step',
        name: 'step',
        runtime: { type: 'ws' },
        ...(retries !== undefined && { retries: { attempts: retries } }),
      },
    },
    ...options,
  };
}
