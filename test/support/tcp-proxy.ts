/** A TCP proxy in front of several processes, as a load balancer is: new connections go to the process that the test chooses. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';

/** What the process sends, as it reaches the client. */
type Edit = (bytes: Buffer) => Buffer;

export class TcpProxy {
  /** Port that new connections go to. */
  target: number;
  readonly #server = createServer((client) => this.#forward(client));
  readonly #sockets = new Set<Socket>();
  #isFrozen = false;

  readonly #edit: Edit | undefined;

  private constructor(target: number, edit: Edit | undefined) {
    this.target = target;
    this.#edit = edit;
  }

  static async start(target: number, edit?: Edit): Promise<TcpProxy> {
    const proxy = new TcpProxy(target, edit);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Ends all connections. */
  cut(): void {
    this.#isFrozen = false;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Connections stay, new ones are accepted, and no byte passes: until `cut`. */
  freeze(): void {
    this.#isFrozen = true;
    for (const socket of this.#sockets) socket.unpipe();
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.cut();
    await once(this.#server, 'close');
  }

  #forward(client: Socket): void {
    const upstream = connect(this.target, '127.0.0.1');
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.#sockets.add(from);
      if (!this.#isFrozen) (from === upstream ? this.#edited(from) : from).pipe(to);
      from.on('error', () => to.destroy());
      from.once('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
    }
  }

  #edited(upstream: Socket): Transform | Socket {
    const edit = this.#edit;
    if (!edit) return upstream;
    return upstream.pipe(new Transform({ transform: (bytes, _, done) => done(null, edit(bytes)) }));
  }
}
