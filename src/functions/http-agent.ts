/** HTTP connections to apps: address rules, timeouts and response limits. Redirects: redirects.ts. */
import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import type { OutboundSettings } from '../config.ts';
import type { EnvironmentKind } from '../model/environment.ts';
import { type OutboundRules, outboundRules } from '../model/network/outbound.ts';

const CONNECT_TIMEOUT_MS = 10_000;
/** Starts TCP keep-alive probes after this idle time; a dead peer is detected about 10 s later. */
const KEEP_ALIVE_AFTER_MS = 15_000;

export interface HttpAgentOptions {
  /** Time limit for the complete response. */
  timeoutMs: number;
  outbound: OutboundSettings;
}

/** The address rules forbid the connection. */
export class AddressBlocked extends Error {
  override name = 'AddressBlocked';
}

export class ResponseTooLarge extends Error {
  override name = 'ResponseTooLarge';
}

/** Two connection pools: one for branch environments, one for all others, because their address rules differ. */
export class HttpAgent {
  readonly #agents: Readonly<Record<'branch' | 'other', Agent>>;

  constructor(options: HttpAgentOptions) {
    this.#agents = { branch: agentOf(options, true), other: agentOf(options, false) };
  }

  for(kind: EnvironmentKind): Agent {
    return kind === 'branch' ? this.#agents.branch : this.#agents.other;
  }

  /** Waits for calls in flight. */
  async close(): Promise<void> {
    await Promise.all([this.#agents.branch.close(), this.#agents.other.close()]);
  }

  /** Aborts calls in flight. */
  async destroy(): Promise<void> {
    await Promise.allSettled([this.#agents.branch.destroy(), this.#agents.other.destroy()]);
  }
}

function agentOf({ timeoutMs, outbound }: HttpAgentOptions, branch: boolean): Agent {
  const connect = { timeout: CONNECT_TIMEOUT_MS, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_AFTER_MS };
  return new Agent({
    connect: connectorWithRules(connect, outboundRules(outbound, branch)),
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
}

/** @throws ResponseTooLarge after more than `maxBytes` */
export async function readBytes(body: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxBytes) throw new ResponseTooLarge(`the response is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

/** @throws ResponseTooLarge after more than `maxBytes` */
export async function readText(body: AsyncIterable<Buffer>, maxBytes: number): Promise<string> {
  return (await readBytes(body, maxBytes)).toString('utf8');
}

/** Checks the addresses that are actually connected to, which prevents DNS rebinding. */
function connectorWithRules(options: buildConnector.BuildOptions, rules: OutboundRules): buildConnector.connector {
  const connect = buildConnector({ ...options, lookup: lookupWithRules(rules) } as buildConnector.BuildOptions);
  return (target, callback) => {
    // The lookup checks names; a literal IP address has no lookup.
    const blocked = isIP(target.hostname) === 0 ? undefined : blockedBy(rules, target.hostname, [target.hostname]);
    if (blocked) callback(blocked, null);
    else connect(target, callback);
  };
}

function lookupWithRules(rules: OutboundRules): LookupFunction {
  return (hostname, options: LookupOptions, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found: LookupAddress[]) => {
      const failure =
        error ??
        blockedBy(
          rules,
          hostname,
          found.map(({ address }) => address),
        );
      if (failure) callback(failure, '');
      else if (options.all) callback(null, found);
      else callback(null, (found[0] as LookupAddress).address, (found[0] as LookupAddress).family);
    });
  };
}

/** One forbidden address blocks the whole name: no name has a forbidden address by accident. */
function blockedBy(rules: OutboundRules, hostname: string, addresses: readonly string[]): AddressBlocked | undefined {
  for (const address of addresses) {
    const reason = rules.refusal(address);
    if (reason) return new AddressBlocked(`${hostname} resolves to ${reason}`);
  }
  return undefined;
}
