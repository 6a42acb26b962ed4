/** Keys of the auth room. */
import { hash, stream, string, zset } from './key-declaration.ts';

export const AUTH_KEYS = {
  eventKeys: hash('event-keys', 'Event key ID → event key, as JSON.', {
    owner: 'auth/event-keys.ts',
    ttl: 'none',
    size: '1 field per event key',
  }),
  eventKeyDigests: hash('event-key-digests', 'SHA-256 of the secret → event key ID.', {
    owner: 'auth/event-keys.ts',
    ttl: 'none',
    size: '1 field per event key',
  }),
  eventKeyUses: hash('event-key-uses', 'Event key ID → last use (ms).', {
    owner: 'auth/event-keys.ts',
    ttl: 'none',
    size: '1 field per event key',
  }),
  apiKeys: hash('api-keys', 'SHA-256 of the secret → API key, as JSON.', {
    owner: 'auth/api-keys.ts',
    ttl: 'none',
    size: '1 field per API key',
  }),
  apiKeyUses: hash('api-key-uses', 'API key ID → last use (ms).', {
    owner: 'auth/api-keys.ts',
    ttl: 'none',
    size: '1 field per API key',
  }),
  signingKeys: hash('signing-keys', 'Owner → signing keys, encrypted.', {
    owner: 'auth/signing-keys.ts',
    ttl: 'none',
    size: '1 field per environment, 1 for all branches',
  }),
  secretKeyCheck: string('secret-key-check', 'An empty text, encrypted: shows whether `SECRET_KEY` is right.', {
    owner: 'auth/secret-key-check.ts',
    ttl: 'none',
    size: '1 encrypted value',
  }),
  users: hash('users', 'User ID → user, as JSON.', { owner: 'auth/users.ts', ttl: 'none', size: '1 field per user' }),
  userEmails: hash('user-emails', 'Email address, or SHA-256 of issuer and subject at a provider → user ID.', {
    owner: 'auth/users.ts',
    ttl: 'none',
    size: '1 field per user, 1 per identity',
  }),
  session: string('session:<digest>', 'SHA-256 of the session token → session, as JSON.', {
    owner: 'auth/sessions.ts',
    ttl: '12 h idle, 7 days at most',
    size: '1 JSON object',
  }),
  sessionIndex: zset(
    'session-index:<digest>',
    'SHA-256 of a user, or of issuer and session or subject at a provider → digests of the sessions by their start (ms).',
    { owner: 'auth/sessions.ts', ttl: '7 days, renewed', size: '1 entry per sign-in of 7 days' },
  ),
  pendingSignIn: string(
    'pending-sign-in:<digest>',
    'SHA-256 of the token of a browser that needs a second factor → user, as JSON.',
    { owner: 'auth/pending-sign-ins.ts', ttl: '10 min', size: '1 JSON object' },
  ),
  passkeyChallenge: string(
    'passkey-challenge:<digest>',
    'SHA-256 of the token of a session or pending sign-in → challenge for a passkey.',
    { owner: 'auth/pending-sign-ins.ts', ttl: '10 min', size: '43 bytes' },
  ),
  usedSignIn: string(
    'used-sign-in:<digest>',
    'SHA-256 of the state of a finished single sign-on, or of the ID of a logout token.',
    { owner: 'auth/sign-in-flows.ts', ttl: '10 min', size: 'empty' },
  ),
  oneTimeToken: string('one-time-token:<digest>', 'SHA-256 of the token → what it allows, as JSON.', {
    owner: 'auth/one-time-tokens.ts',
    ttl: '24 h',
    size: '1 JSON object',
  }),
  setUpToken: string('set-up-token', 'Token of the link for the first admin, sealed.', {
    owner: 'auth/one-time-tokens.ts',
    ttl: '24 h',
    size: '150 bytes',
  }),
  signInThrottle: string(
    'sign-in-throttle:<limit>',
    'Prefix of rate-limiter-flexible: failed sign-ins of an address, an account, or both.',
    { owner: 'auth/sign-in-throttle.ts', ttl: '15 min or 1 h', size: 'a number' },
  ),
  knownAddress: string('known-address:<digest>', 'SHA-256 of an account and its address.', {
    owner: 'auth/sign-in-throttle.ts',
    ttl: '30 days',
    size: 'empty',
  }),
  auditLog: stream('audit-log', 'Changes and sign-ins, as JSON.', {
    owner: 'auth/audit-log.ts',
    ttl: 'none',
    size: '10,000 entries',
  }),
  auditLogArchived: string('audit-log-archived', 'Last archived entry of `audit-log`. Only with an archive.', {
    owner: 'auth/audit-log.ts',
    ttl: 'none',
    size: '30 bytes',
  }),
  rejections: zset('rejections', 'Rejected attempts by last repetition (µs).', {
    owner: 'auth/rejection-log.ts',
    ttl: '30 days, renewed',
    size: '1,000 entries',
  }),
  rejectionEntries: hash('rejection-entries', 'ID → attempt, reason, count, times, as JSON.', {
    owner: 'auth/rejection-log.ts',
    ttl: '30 days, renewed',
    size: '1 field per rejected attempt',
  }),
  idempotentResponse: string(
    'idempotent-response:<digest>',
    'SHA-256 of principal, environment, route and key → digest of the request, and response, encrypted.',
    { owner: 'auth/idempotent-responses.ts', ttl: '24 h; 1 min, renewed, during the request', size: '90 KB' },
  ),
  apiRateLimit: string(
    'api-rate-limit:<window>',
    'Prefix of rate-limiter-flexible: API requests of a key, app or user in this minute.',
    { owner: 'auth/api-rate-limits.ts', ttl: '1 min', size: 'a number' },
  ),
  savedViews: hash('saved-views:<env>:<owner>', 'View ID → saved view, as JSON.', {
    owner: 'auth/saved-views.ts',
    ttl: 'none; deleted with the user or environment',
    size: '100 fields',
  }),
};
