/** A node of a Redis Cluster on this machine. */
import { Redis } from 'ioredis';
import { LOOPBACK } from '../ports.ts';
import { type NodeView, readView } from './view.ts';

export interface Credentials {
  /** Default: the user "default". */
  user?: string;
  password: string;
}

const COMMAND_TIMEOUT_MS = 2_000;

export class ClusterNode {
  readonly index: number;
  readonly port: number;
  /** The port of the nodes' own connections. */
  readonly busPort: number;
  readonly dir: string;
  /** ID of the node in the cluster; stays when it is restarted with its data. */
  id = '';
  /** undefined while it does not run. */
  pid: number | undefined;
  isPaused = false;
  readonly #credentials: Credentials | undefined;
  #admin: Redis | undefined;

  constructor(index: number, ports: readonly [number, number], dir: string, credentials: Credentials | undefined) {
    this.index = index;
    [this.port, this.busPort] = ports;
    this.dir = dir;
    this.#credentials = credentials;
  }

  /** With credentials. */
  get url(): string {
    const { user = '', password } = this.#credentials ?? {};
    const login = password === undefined ? '' : `${encodeURIComponent(user)}:${encodeURIComponent(password)}@`;
    return `redis://${login}${LOOPBACK}:${this.port}`;
  }

  get responds(): boolean {
    return this.pid !== undefined && !this.isPaused;
  }

  /** A connection to this node alone; commands fail soon while it does not respond. */
  get admin(): Redis {
    this.#admin ??= new Redis(this.url, {
      retryStrategy: () => 50,
      maxRetriesPerRequest: 20,
      commandTimeout: COMMAND_TIMEOUT_MS,
    }).on('error', () => {});
    return this.#admin;
  }

  disconnect(): void {
    this.#admin?.disconnect();
    this.#admin = undefined;
  }

  async view(): Promise<NodeView[]> {
    return readView((await this.admin.cluster('NODES')) as string);
  }

  /** Fields of INFO. */
  async info(...sections: string[]): Promise<Record<string, string>> {
    const lines = (await this.admin.info(...(sections as ['all']))).split('\r\n');
    return Object.fromEntries(
      lines.flatMap((line) => {
        const colon = line.indexOf(':');
        return colon > 0 ? [[line.slice(0, colon), line.slice(colon + 1)]] : [];
      }),
    );
  }
}
