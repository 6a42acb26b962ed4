/** The port that all processes of a group listen on, each with a socket of its own (SO_REUSEPORT): Linux gives each new
 *  connection to one of them, by a hash of its addresses.
 *
 *  Measured with four processes, against the two ways of node:cluster:
 *  - When processes share one socket (SCHED_NONE), one got 23 of 32 connections that clients keep open, and another none;
 *    here each gets 3 to 12.
 *  - When the parent accepts and passes connections on (SCHED_RR), each gets 7 to 9, but a new connection costs 1.8 times
 *    the CPU time, and one that is passed to a process just as that dies stays open without an answer. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** Makes sure that no other program has the port: sockets that share a port do not notice each other.
 *  @param port 0 selects any free port
 *  @throws Node's error when the port is taken, as a single process does */
export async function reservePort(port: number, host: string): Promise<number> {
  const server = createServer().listen(port, host);
  await once(server, 'listening');
  const reserved = (server.address() as AddressInfo).port;
  server.close();
  await once(server, 'close');
  return reserved;
}
