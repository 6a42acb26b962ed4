/** The way out to apps: how connections are made, how long a call may take, and what is read of an answer. Redirects are not followed:
 *  undici does not, unless it is asked to. */
import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { whyNotPublic } from '../model/public-address.ts';

const CONNECT_TIMEOUT_MS = 10_000;
/** A connection on which nothing has come for so long is probed; a peer that is gone is noticed some 10 s later. */
const PROBE_AFTER_MS = 15_000;

export interface OutgoingOptions {
  /** Longest that an answer may take. */
  timeoutMs: number;
  /** No connection is made to an address that is not public. */
  blockPrivateAddresses: boolean;
}

/** A connection was not made because of where it would have led. */
export class AddressBlocked extends Error {
  override name = 'AddressBlocked';
}

export class AnswerTooLarge extends Error {
  override name = 'AnswerTooLarge';
}

export function outgoingAgent({ timeoutMs, blockPrivateAddresses }: OutgoingOptions): Agent {
  const connect = { timeout: CONNECT_TIMEOUT_MS, keepAlive: true, keepAliveInitialDelay: PROBE_AFTER_MS };
  return new Agent({
    connect: blockPrivateAddresses ? publicOnly(connect) : connect,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
}

/** @throws AnswerTooLarge once more than `maxBytes` have come */
export async function readText(body: AsyncIterable<Buffer>, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxBytes) throw new AnswerTooLarge(`the answer is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Looks at the very addresses that are connected to, so a name that resolves to something else the next time changes nothing. */
function publicOnly(options: buildConnector.BuildOptions): buildConnector.connector {
  const connect = buildConnector({ ...options, lookup: publicLookup } as buildConnector.BuildOptions);
  return (target, callback) => {
    // A host that is an address is not looked up.
    const blocked = isIP(target.hostname) === 0 ? undefined : refusal(target.hostname, [target.hostname]);
    if (blocked) callback(blocked, null);
    else connect(target, callback);
  };
}

const publicLookup: LookupFunction = (hostname, options: LookupOptions, callback) => {
  lookup(hostname, { ...options, all: true }, (error, found: LookupAddress[]) => {
    const refused =
      error ??
      refusal(
        hostname,
        found.map(({ address }) => address),
      );
    if (refused) callback(refused, '');
    else if (options.all) callback(null, found);
    else callback(null, (found[0] as LookupAddress).address, (found[0] as LookupAddress).family);
  });
};

function refusal(hostname: string, addresses: readonly string[]): AddressBlocked | undefined {
  for (const address of addresses) {
    const kind = whyNotPublic(address);
    if (kind) {
      return new AddressBlocked(
        `${hostname} leads to ${address}, which is no public address (${kind}), and BLOCK_PRIVATE_ADDRESSES is on`,
      );
    }
  }
  return undefined;
}
