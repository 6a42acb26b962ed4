/** Signing keys: one per environment, and one shared by all branches. Created on first use, and encrypted at rest. A setting may provide
 *  production's key instead. */
import { randomBytes } from 'node:crypto';
import { SealError, type Sealer } from '../../model/auth/seal.ts';
import { BRANCHES, ownerOfName, PRODUCTION } from '../../model/environment.ts';
import type { Environments } from '../environments/environments.ts';
import { CoalescedRead } from '../redis/caching/coalesced-read.ts';
import { changeField } from '../redis/changed-field.ts';
import type { ScriptedRedis } from '../redis/connection/scripts.ts';
import { Repository } from '../redis/repository.ts';

/** How long a process caches a key. For that long after a rotation it still signs with the previous key, which is still valid. */
const CACHED_MS = 5_000;
/** How long a process accepts requests of apps by the keys that it read last, even by a key that has become invalid since. An app may store
 *  steps in hundreds of requests per second. */
const FRESH_MS = 100;
const KEY_BYTES = 32;

export interface SigningKeyPair {
  current: string;
  /** The previous key, still accepted from apps. */
  fallback: string | undefined;
}

/** A stored pair: both keys are encrypted. */
type StoredPair = { current: string; fallback?: string };

export class SigningKeys extends Repository<
  ScriptedRedis,
  {
    environments: Environments;
    sealer: Sealer;
    /** Production's key, if a setting provides it. */
    given: SigningKeyPair | undefined;
  }
> {
  readonly #cached = new Map<string, { pair: SigningKeyPair; until: number }>();
  /** Pairs as last read, keyed by environment. */
  readonly #last = new Map<string, { text: string; pair: SigningKeyPair; readAt: number }>();
  readonly #reads = new Map<string, CoalescedRead<SigningKeyPair>>();

  /** Whether a setting provides this owner's key, which then cannot be rotated here. */
  isGiven(owner: string): boolean {
    return owner === PRODUCTION && this.deps.given !== undefined;
  }

  /** Owner of the key that an environment uses. An unknown environment can only become a branch. */
  async ownerOf(env: string): Promise<string> {
    if (env === PRODUCTION || env === BRANCHES) return env;
    const environment = await this.deps.environments.read(env);
    return ownerOfName(environment);
  }

  /** The key that signs calls to the environment's functions; up to a few seconds old. */
  async current(env: string): Promise<string> {
    const cached = this.#cached.get(env);
    if (cached && cached.until > Date.now()) return cached.pair.current;
    const pair = await this.of(await this.ownerOf(env));
    this.#cached.set(env, { pair, until: Date.now() + CACHED_MS });
    return pair.current;
  }

  /** The key, current or previous, that a request proves. Requests that do not prove a recently read key share reads, so no flood of them
   *  makes this read Redis often; requests of apps hardly ever wait for a read.
   *  @param isProven whether the request proves this key */
  async find(owner: string, isProven: (key: string) => boolean): Promise<string | undefined> {
    const provenIn = ({ current, fallback }: SigningKeyPair) =>
      [current, fallback].find((key) => key !== undefined && isProven(key));
    if (this.isGiven(owner)) return provenIn(this.deps.given as SigningKeyPair);
    const last = this.#last.get(owner);
    const known = last && performance.now() < last.readAt + FRESH_MS ? provenIn(last.pair) : undefined;
    if (known !== undefined) return known;
    const read = this.#reads.get(owner) ?? new CoalescedRead(() => this.of(owner));
    this.#reads.set(owner, read);
    return provenIn(await read.get());
  }

  async of(owner: string): Promise<SigningKeyPair> {
    if (this.isGiven(owner)) return this.deps.given as SigningKeyPair;
    const text = await this.redis.hget(this.keys.signingKeys, owner);
    if (text !== null) return this.#read(text, owner);
    await this.redis.hsetnx(
      this.keys.signingKeys,
      owner,
      this.#encrypt({ current: newSigningKey(owner), fallback: undefined }, owner),
    );
    return this.#read((await this.redis.hget(this.keys.signingKeys, owner)) as string, owner);
  }

  /** Creates a new key; the current one becomes the fallback, and the previous fallback becomes invalid. Works even if the SECRET_KEY
   *  that encrypted the current key is lost. */
  async rotate(owner: string): Promise<SigningKeyPair> {
    await this.of(owner).catch((error) => {
      if (!(error instanceof SealError)) throw error;
    });
    let pair: SigningKeyPair = { current: '', fallback: undefined };
    // Concurrent rotations run one after the other, so each returns a key that was valid.
    await changeField(this.redis, { key: this.keys.signingKeys, field: owner }, (text) => {
      pair = { current: newSigningKey(owner), fallback: text && this.#currentIn(text, owner) };
      return this.#encrypt(pair, owner);
    });
    this.#cached.clear();
    this.#last.delete(owner);
    return pair;
  }

  /** Owners whose signing keys cannot be decrypted. */
  async unreadable(): Promise<string[]> {
    const kept = await this.redis.hgetall(this.keys.signingKeys);
    return Object.keys(kept).filter((owner) => {
      try {
        this.#decrypt(kept[owner] as string, owner);
        return false;
      } catch (error) {
        if (error instanceof SealError) return true;
        throw error;
      }
    });
  }

  /** Re-encrypts, with the current secret, keys encrypted with the fallback.
   *  @returns number of keys */
  async reencrypt(): Promise<number> {
    const kept = await this.redis.hgetall(this.keys.signingKeys);
    let count = 0;
    for (const [owner, text] of Object.entries(kept)) {
      const { current, fallback } = JSON.parse(text) as StoredPair;
      if ([current, fallback].every((sealed) => sealed === undefined || this.deps.sealer.isCurrent(sealed))) continue;
      // Skips keys that have been rotated since.
      count += Number(
        await this.redis.replaceField(
          this.keys.signingKeys,
          owner,
          text,
          this.#encrypt(this.#decrypt(text, owner), owner),
        ),
      );
    }
    return count;
  }

  #encrypt({ current, fallback }: SigningKeyPair, owner: string): string {
    const stored: StoredPair = {
      current: this.deps.sealer.seal(current, owner),
      ...(fallback !== undefined && { fallback: this.deps.sealer.seal(fallback, owner) }),
    };
    return JSON.stringify(stored);
  }

  /** undefined if it cannot be decrypted. */
  #currentIn(text: string, owner: string): string | undefined {
    try {
      return this.#decrypt(text, owner).current;
    } catch (error) {
      if (error instanceof SealError) return undefined;
      throw error;
    }
  }

  /** Decrypts what has changed. */
  #read(text: string, owner: string): SigningKeyPair {
    const last = this.#last.get(owner);
    const pair = last?.text === text ? last.pair : this.#decrypt(text, owner);
    this.#last.set(owner, { text, pair, readAt: performance.now() });
    return pair;
  }

  #decrypt(text: string, owner: string): SigningKeyPair {
    const { current, fallback } = JSON.parse(text) as StoredPair;
    return {
      current: this.deps.sealer.open(current, owner),
      fallback: fallback === undefined ? undefined : this.deps.sealer.open(fallback, owner),
    };
  }
}

/** `signkey-<word>-<hex>` (docs/protocol.md#authentication); the word shows users which environment the key belongs to. */
function newSigningKey(owner: string): string {
  const word = owner === BRANCHES ? 'branch' : owner.replace(/\W/g, '_');
  return `signkey-${word}-${randomBytes(KEY_BYTES).toString('hex')}`;
}
