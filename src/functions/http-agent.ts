/** The way out to apps: how connections are made, how long a call may take, and what is read of an answer. Redirects are not followed:
 *  undici does not, unless it is asked to. */
import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import type { OutboundSettings } from '../config.ts';
import type { EnvironmentKind } from '../model/environment.ts';
import { type OutboundRules, outboundRules } from '../model/network/outbound.ts';

const CONNECT_TIMEOUT_MS = 10_000;
/** A connection on which nothing has come for so long is probed; a peer that is gone is noticed some 10 s later. */
const PROBE_AFTER_MS = 15_000;

export interface HttpAgentOptions {
  /** Longest that an answer may take. */
  timeoutMs: number;
  outbound: OutboundSettings;
}

/** A connection was not made because of where it would have led. */
export class AddressBlocked extends Error {
  override name = 'AddressBlocked';
}

export class ResponseTooLarge extends Error {
  override name = 'AnswerTooLarge';
}

/** The ways out: one for branch environments, one for all others. A connection that one may use is no connection of the other's. */
export class HttpAgent {
  readonly #agents: Readonly<Record<'branch' | 'other', Agent>>;

  constructor(options: HttpAgentOptions) {
    this.#agents = { branch: agentOf(options, true), other: agentOf(options, false) };
  }

  for(kind: EnvironmentKind): Agent {
    return kind === 'branch' ? this.#agents.branch : this.#agents.other;
  }

  /** Waits for the calls under way. */
  async close(): Promise<void> {
    await Promise.all([this.#agents.branch.close(), this.#agents.other.close()]);
  }

  /** Breaks off the calls under way. */
  async destroy(): Promise<void> {
    await Promise.allSettled([this.#agents.branch.destroy(), this.#agents.other.destroy()]);
  }
}

function agentOf({ timeoutMs, outbound }: HttpAgentOptions, branch: boolean): Agent {
  const connect = { timeout: CONNECT_TIMEOUT_MS, keepAlive: true, keepAliveInitialDelay: PROBE_AFTER_MS };
  return new Agent({
    connect: guarded(connect, outboundRules(outbound, branch)),
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
    if (length > maxBytes) throw new ResponseTooLarge(`the answer is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Looks at the very addresses that are connected to, so a name that resolves to something else the next time changes nothing. */
function guarded(options: buildConnector.BuildOptions, rules: OutboundRules): buildConnector.connector {
  const connect = buildConnector({ ...options, lookup: lookupWithin(rules) } as buildConnector.BuildOptions);
  return (target, callback) => {
    // A host that is an address is not looked up.
    const blocked = isIP(target.hostname) === 0 ? undefined : refusal(rules, target.hostname, [target.hostname]);
    if (blocked) callback(blocked, null);
    else connect(target, callback);
  };
}

function lookupWithin(rules: OutboundRules): LookupFunction {
  return (hostname, options: LookupOptions, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found: LookupAddress[]) => {
      const refused =
        error ??
        refusal(
          rules,
          hostname,
          found.map(({ address }) => address),
        );
      if (refused) callback(refused, '');
      else if (options.all) callback(null, found);
      else callback(null, (found[0] as LookupAddress).address, (found[0] as LookupAddress).family);
    });
  };
}

/** One that is refused among a name's addresses refuses the name: nobody has such a name by accident. */
function refusal(rules: OutboundRules, hostname: string, addresses: readonly string[]): AddressBlocked | undefined {
  for (const address of addresses) {
    const why = rules.refusal(address);
    if (why) return new AddressBlocked(`${hostname} leads to ${why}`);
  }
  return undefined;
}
