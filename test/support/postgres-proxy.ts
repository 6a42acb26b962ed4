/** The Postgres of the tests behind a proxy, so that it can be away for one service alone. */
import { postgresUrl } from './postgres.ts';
import { TcpProxy } from './tcp-proxy.ts';

/** Nothing listens there. */
const NOWHERE = 1;

export class PostgresProxy {
  /** For DATABASE_URL. */
  readonly url: string;
  readonly #proxy: TcpProxy;
  readonly #port: number;

  private constructor(proxy: TcpProxy, target: URL) {
    this.#proxy = proxy;
    this.#port = Number(target.port);
    target.port = new URL(proxy.url).port;
    this.url = target.href;
  }

  static async start(): Promise<PostgresProxy> {
    const target = new URL(postgresUrl());
    return new PostgresProxy(await TcpProxy.start(Number(target.port)), target);
  }

  /** Connections end, and new ones fail. */
  leave(): void {
    this.#proxy.target = NOWHERE;
    this.#proxy.cut();
  }

  /** Keeps its connections, accepts new ones, and says nothing: until `leave`. */
  freeze(): void {
    this.#proxy.freeze();
  }

  comeBack(): void {
    this.#proxy.target = this.#port;
  }

  stop(): Promise<void> {
    return this.#proxy.stop();
  }
}
