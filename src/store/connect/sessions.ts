/** Session tokens: `/v0/connect/start` authenticates the app, and the token that it returns lets the app open one WebSocket. */
import { createHash, randomBytes } from 'node:crypto';
import type { Dialect } from '../../model/apps/app.ts';
import { Repository } from '../redis/repository.ts';

const TTL_MS = 60_000;
const TOKEN_BYTES = 32;

export interface ConnectSession {
  env: string;
  connectionId: string;
  dialect: Dialect;
  /** Fingerprint of the signing key that authenticated the app; undefined in dev mode. */
  keyFingerprint?: string | undefined;
}

export class ConnectSessions extends Repository {
  /** @returns the token */
  async create(session: ConnectSession): Promise<string> {
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    await this.redis.set(this.#keyOf(token), JSON.stringify(session), 'PX', TTL_MS);
    return token;
  }

  /** A token works once. @returns undefined if it is unknown, used or expired */
  async redeem(token: string): Promise<ConnectSession | undefined> {
    const text = await this.redis.getdel(this.#keyOf(token));
    return text === null ? undefined : (JSON.parse(text) as ConnectSession);
  }

  #keyOf(token: string): string {
    return this.keys.connectSession(createHash('sha256').update(token).digest('base64url'));
  }
}
