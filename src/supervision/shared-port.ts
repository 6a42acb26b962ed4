/** The port that all processes of a group listen on, each with a socket of its own (SO_REUSEPORT): Linux gives each new
 *  connection to one of them, by a hash of its addresses.
 *
 *  The supervisor keeps the sockets and accepts nothing. A process and its replacements get the same socket, by their
 *  number: connections that no process has accepted yet wait for the replacement. Linux would reset the connections of
 *  a socket that no process holds.
 *
 *  Measured with four processes, against the two ways of node:cluster:
 *  - When processes share one socket (SCHED_NONE), one process got 23 of 32 connections that clients keep open, and another none; here each
 *    process gets 3 to 12.
 *  - When the parent accepts and passes connections on (SCHED_RR), each process gets 7 to 9, but a new connection costs 1.8 times the CPU time,
 *    and a connection that is passed to a process that is just dying stays open without a response. */
import type { SendHandle } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import net, { type AddressInfo, createServer } from 'node:net';
import { getSystemErrorMessage } from 'node:util';

/** libuv's UV_TCP_REUSEPORT. */
const REUSE_PORT = 2;

type Socket = SendHandle & { close(): void };

/** node:cluster's function for creating sockets: it binds without accepting. Node's public API has no such function. */
const { _createServerHandle: bind } = net as unknown as {
  /** @returns an error number on failure */
  _createServerHandle(address: string, port: number, family: number, fd: undefined, flags: number): Socket | number;
};

export class SharedPort {
  readonly port: number;
  readonly #address: string;
  readonly #family: number;
  readonly #sockets = new Map<number, Socket>();

  private constructor(port: number, address: string, family: number) {
    this.port = port;
    this.#address = address;
    this.#family = family;
  }

  /** Makes sure that no other program has the port, because sockets that share a port do not notice each other.
   *  @param port 0 selects any free port
   *  @throws Node's error if the port is taken, as a single process does */
  static async reserve(port: number, host: string): Promise<SharedPort> {
    const server = createServer().listen(port, host);
    await once(server, 'listening');
    const reserved = (server.address() as AddressInfo).port;
    server.close();
    await once(server, 'close');
    const { address, family } = await lookup(host);
    return new SharedPort(reserved, address, family);
  }

  /** @param number of the process
   *  @throws if it cannot be bound */
  socketOf(number: number): SendHandle {
    const kept = this.#sockets.get(number);
    if (kept) return kept;
    const socket = bind(this.#address, this.port, this.#family, undefined, REUSE_PORT);
    if (typeof socket === 'number') {
      throw new Error(`cannot listen on port ${this.port}: ${getSystemErrorMessage(socket)}`);
    }
    this.#sockets.set(number, socket);
    return socket;
  }

  /** Called when no process will have this number for a while: the other processes get its connections. */
  release(number: number): void {
    this.#sockets.get(number)?.close();
    this.#sockets.delete(number);
  }

  close(): void {
    for (const number of this.#sockets.keys()) this.release(number);
  }
}
