/** A bare host of functions: answers every call at once, counts the calls, and notes how old each event was. Told `report` over
 *  IPC it tells what it has seen since the last report. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HostReport {
  calls: number;
  /** Of the last call, Unix milliseconds. */
  lastAt: number;
  /** Milliseconds from the `sentAt` in an event's data to its call. */
  ages: number[];
}

let seen: HostReport = { calls: 0, lastAt: 0, ages: [] };

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    seen.calls++;
    seen.lastAt = performance.timeOrigin + performance.now();
    const sentAt = /"sentAt":([\d.]+)/.exec(Buffer.concat(chunks).toString('latin1'))?.[1];
    if (sentAt) seen.ages.push(seen.lastAt - Number(sentAt));
    response.writeHead(200, { 'content-type': 'application/json', 'x-service-sdk': 'bench:v1.0.0' }).end('null');
  });
});
server.listen(0, '127.0.0.1', () => process.send?.({ ready: true, port: (server.address() as AddressInfo).port }));
process.on('message', () => {
  process.send?.(seen);
  seen = { calls: 0, lastAt: 0, ages: [] };
});
process.once('disconnect', () => process.exit());
