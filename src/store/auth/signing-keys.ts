/** Signing keys: one an environment, and one that all branches share. Made when first needed; sealed at rest.
 *  Production's may be given by a setting instead. */
import { randomBytes } from 'node:crypto';
import { SealError, type Sealer } from '../../model/auth/seal.ts';
import { BRANCHES, ownerOf, PRODUCTION } from '../../model/environment.ts';
import type { Environments } from '../environments/environments.ts';
import { CoalescedRead } from '../redis/coalesced-read.ts';
import type { Keyspace } from '../redis/keyspace.ts';
import type { ScriptedRedis } from '../redis/scripts.ts';

/** A rotation is followed after so long by those who sign; until then the former key is good as well. */
const HELD_MS = 5_000;
const KEY_BYTES = 32;

export interface SigningKeyPair {
  current: string;
  /** The former one, which apps may still prove themselves with. */
  fallback: string | undefined;
}

/** As it is kept: both sealed. */
type Kept = { current: string; fallback?: string };

export class SigningKeys {
  readonly #redis: ScriptedRedis;
  readonly #key: string;
  readonly #environments: Environments;
  readonly #sealer: Sealer;
  readonly #given: SigningKeyPair | undefined;
  readonly #held = new Map<string, { pair: SigningKeyPair; until: number }>();
  readonly #reads = new Map<string, CoalescedRead<SigningKeyPair>>();

  /** @param given production's, by setting */
  constructor({
    redis,
    keys,
    environments,
    sealer,
    given,
  }: {
    redis: ScriptedRedis;
    keys: Keyspace;
    environments: Environments;
    sealer: Sealer;
    given: SigningKeyPair | undefined;
  }) {
    this.#redis = redis;
    this.#key = keys.signingKeys;
    this.#environments = environments;
    this.#sealer = sealer;
    this.#given = given;
  }

  /** Whether a setting gives the key of this owner; then it cannot be rotated here. */
  isGiven(owner: string): boolean {
    return owner === PRODUCTION && this.#given !== undefined;
  }

  /** Whose key an environment uses. An unknown one can only become a branch. */
  async ownerOf(env: string): Promise<string> {
    if (env === PRODUCTION || env === BRANCHES) return env;
    const environment = await this.#environments.read(env);
    return environment ? ownerOf(environment) : BRANCHES;
  }

  /** What signs calls to the functions of an environment; as it stood at most a few seconds ago. */
  async current(env: string): Promise<string> {
    const held = this.#held.get(env);
    if (held && held.until > Date.now()) return held.pair.current;
    const pair = await this.of(await this.ownerOf(env));
    this.#held.set(env, { pair, until: Date.now() + HELD_MS });
    return pair.current;
  }

  /** As it stands now. Strangers may have it asked for. */
  latest(owner: string): Promise<SigningKeyPair> {
    const read = this.#reads.get(owner) ?? new CoalescedRead(() => this.of(owner));
    this.#reads.set(owner, read);
    return read.get();
  }

  async of(owner: string): Promise<SigningKeyPair> {
    if (this.isGiven(owner)) return this.#given as SigningKeyPair;
    const text = await this.#redis.hget(this.#key, owner);
    if (text !== null) return this.#opened(text, owner);
    await this.#redis.hsetnx(
      this.#key,
      owner,
      this.#sealed({ current: newSigningKey(owner), fallback: undefined }, owner),
    );
    return this.#opened((await this.#redis.hget(this.#key, owner)) as string, owner);
  }

  /** A new key; the present one becomes the fallback, and the one before it is void. Where the SECRET_KEY that sealed the present one
   *  is lost, it is lost too, and this is the way out. */
  async rotate(owner: string): Promise<SigningKeyPair> {
    const present = await this.of(owner).catch((error) => {
      if (error instanceof SealError) return undefined;
      throw error;
    });
    const pair = { current: newSigningKey(owner), fallback: present?.current };
    await this.#redis.hset(this.#key, owner, this.#sealed(pair, owner));
    this.#held.clear();
    return pair;
  }

  /** Whose keys were sealed under a secret that is not at hand. */
  async unreadable(): Promise<string[]> {
    const kept = await this.#redis.hgetall(this.#key);
    return Object.keys(kept).filter((owner) => {
      try {
        this.#opened(kept[owner] as string, owner);
        return false;
      } catch (error) {
        if (error instanceof SealError) return true;
        throw error;
      }
    });
  }

  /** Seals under the present secret what the former one sealed. Answers how many keys that were. */
  async reencrypt(): Promise<number> {
    const kept = await this.#redis.hgetall(this.#key);
    let count = 0;
    for (const [owner, text] of Object.entries(kept)) {
      const { current, fallback } = JSON.parse(text) as Kept;
      if ([current, fallback].every((sealed) => sealed === undefined || this.#sealer.isCurrent(sealed))) continue;
      // Unless somebody rotated it in the meantime.
      count += Number(
        await this.#redis.replaceField(this.#key, owner, text, this.#sealed(this.#opened(text, owner), owner)),
      );
    }
    return count;
  }

  #sealed({ current, fallback }: SigningKeyPair, owner: string): string {
    const kept: Kept = {
      current: this.#sealer.seal(current, owner),
      ...(fallback !== undefined && { fallback: this.#sealer.seal(fallback, owner) }),
    };
    return JSON.stringify(kept);
  }

  #opened(text: string, owner: string): SigningKeyPair {
    const { current, fallback } = JSON.parse(text) as Kept;
    return {
      current: this.#sealer.open(current, owner),
      fallback: fallback === undefined ? undefined : this.#sealer.open(fallback, owner),
    };
  }
}

/** `signkey-<word>-<hex>` (docs/protocol.md#authentication); the word tells people whose it is. */
function newSigningKey(owner: string): string {
  const word = owner === BRANCHES ? 'branch' : owner.replace(/\W/g, '_');
  return `signkey-${word}-${randomBytes(KEY_BYTES).toString('hex')}`;
}
