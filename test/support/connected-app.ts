/** An instance of an app that connects, message by message: tests decide what it acknowledges, extends and replies. */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { Message, MessageOf } from '../../src/functions/connect/codec.ts';
import { type MessageFormat, PROTOBUF, type ReceivedFrame } from '../../src/functions/connect/formats.ts';
import {
  ConnectionReady,
  ExecutorRequest,
  ExtendLease,
  ExtendLeaseAck,
  KIND,
  REPLY_STATUS,
  Reply,
  ReplyAck,
  RequestAck,
  StartRequest,
  StartResponse,
  WorkerConnectRequest,
} from '../../src/functions/connect/messages.ts';
import type { FunctionSpec } from './app-host.ts';
import { until } from './until.ts';

export type CallRequest = MessageOf<typeof ExecutorRequest>;

export interface InstanceOptions {
  app?: string;
  instanceId?: string;
  /** Of the app. */
  version?: string;
  functions?: FunctionSpec[];
  concurrency?: number;
  headers?: Record<string, string>;
  /** Of its SDK. */
  language?: string;
  /** Format of its messages; default: that of the official SDKs. */
  format?: MessageFormat;
  /** Text instead of its functions. */
  rawFunctions?: string;
}

export interface StartOutcome {
  status: number;
  text: string;
  start: MessageOf<typeof StartResponse>;
}

export async function startConnection(
  url: string,
  headers: Record<string, string> = {},
  format = PROTOBUF,
): Promise<StartOutcome> {
  const response = await fetch(`${url}/v0/connect/start`, {
    method: 'POST',
    headers: { 'content-type': format.contentType, ...headers },
    body: format.body(StartRequest, {}),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const isOk = response.status === 200;
  return {
    status: response.status,
    text: isOk ? '' : bytes.toString(),
    start: isOk ? format.readBody(StartResponse, bytes) : StartResponse.decode(Buffer.alloc(0)),
  };
}

export class ConnectedInstance {
  readonly id: string;
  readonly socket: WebSocket;
  /** Received frames. */
  readonly frames: ReceivedFrame[] = [];
  readonly calls: CallRequest[] = [];
  readonly #format: MessageFormat;
  #taken = 0;

  private constructor(id: string, socket: WebSocket, format: MessageFormat) {
    this.id = id;
    this.socket = socket;
    this.#format = format;
    socket.on('error', () => undefined);
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      const frame = format.readFrame(data, isBinary);
      this.frames.push(frame);
      if (frame.kind === KIND.gatewayExecutorRequest) this.calls.push(frame.read(ExecutorRequest));
    });
  }

  /** Opens a WebSocket and waits for the greeting. */
  static async open(endpoint: string, id = '', format = PROTOBUF): Promise<ConnectedInstance> {
    const instance = new ConnectedInstance(id, new WebSocket(endpoint, [format.subprotocol]), format);
    await once(instance.socket, 'open');
    await instance.frame(KIND.gatewayHello);
    return instance;
  }

  /** Connects and registers; ready for calls. @throws when the gateway closes the WebSocket, with its reason */
  static async connect(url: string, options: InstanceOptions = {}): Promise<ConnectedInstance> {
    const { start, status, text } = await startConnection(url, options.headers, options.format);
    if (status !== 200) throw new Error(`start: ${status} ${text}`);
    const instance = await ConnectedInstance.open(start.gatewayEndpoint, start.connectionId, options.format);
    await instance.register(start, options);
    return instance;
  }

  async register(
    { connectionId, sessionToken }: MessageOf<typeof StartResponse>,
    options: InstanceOptions,
  ): Promise<void> {
    const { app = 'shop', instanceId = 'host-1', version, functions = [], concurrency, rawFunctions } = options;
    const { language: sdkLanguage = 'test' } = options;
    const request = {
      connectionId,
      instanceId,
      authData: { sessionToken, syncToken: '' },
      apps: [
        {
          appName: app,
          appVersion: version,
          functions: Buffer.from(rawFunctions ?? JSON.stringify(functions.map((fn) => configOf(app, fn)))),
        },
      ],
      sdkVersion: 'v1.0.0',
      sdkLanguage,
      ...(concurrency !== undefined && { maxWorkerConcurrency: concurrency }),
    };
    const closed = once(this.socket, 'close').then(([code, reason]) => new Error(`closed: ${code} ${reason}`));
    this.send(KIND.workerConnect, WorkerConnectRequest, request);
    const result = await Promise.race([this.frame(KIND.gatewayConnectionReady), closed]);
    if (result instanceof Error) throw result;
    result.read(ConnectionReady);
  }

  /** The next call. */
  async nextCall(): Promise<CallRequest> {
    await until(() => this.calls.length > this.#taken, {
      describe: `instance ${this.id} gets call ${this.#taken + 1}`,
    });
    return this.calls[this.#taken++] as CallRequest;
  }

  /** The first frame of the kind. @throws when the WebSocket is closed before */
  async frame(kind: number): Promise<ReceivedFrame> {
    const next = () => this.frames.find((frame) => frame.kind === kind);
    const isClosed = () => this.socket.readyState === WebSocket.CLOSED;
    const describe = `instance ${this.id} gets a frame of kind ${kind}`;
    await until(() => next() ?? isClosed(), { describe });
    const found = next();
    if (!found) throw new Error(`Closed before ${describe}`);
    this.frames.splice(this.frames.indexOf(found), 1);
    return found;
  }

  acknowledge({ requestId }: CallRequest): void {
    this.send(KIND.workerRequestAck, RequestAck, { requestId });
  }

  /** @returns the new lease ID; undefined: the lease is lost */
  async extend({ requestId, leaseId }: CallRequest): Promise<string | undefined> {
    this.send(KIND.workerRequestExtendLease, ExtendLease, { requestId, leaseId });
    return (await this.frame(KIND.workerRequestExtendLeaseAck)).read(ExtendLeaseAck).newLeaseId;
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
    this.send(KIND.workerReply, Reply, { sdkVersion: 'test:v1.0.0', ...reply });
    (await this.frame(KIND.workerReplyAck)).read(ReplyAck);
  }

  send<Value>(kind: number, message?: Message<Value>, value?: Partial<Value>): void {
    this.socket.send(this.#format.frame(kind, message, value));
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
