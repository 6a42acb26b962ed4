/** OpenID providers for tests: a real one, and one that responds as a case says. */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import Provider from 'oidc-provider';

export const CLIENT = { id: 'tidegate', secret: 'a secret of the provider for the service' };

/** What the real provider says about its users, by subject. */
export type ProviderUsers = Record<string, { email: string; email_verified: boolean; groups: string[] }>;

async function listen(
  handler: (issuer: string) => Promise<RequestListener>,
): Promise<{ issuer: string; server: Server }> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  server.on('request', await handler(issuer));
  return { issuer, server };
}

function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((closed) => server.close(() => closed()));
}

/** npm oidc-provider. Its sign-in page asks for a subject only. */
export async function startRealProvider(publicUrl: string, users: ProviderUsers) {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const jwk = { ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig', kid: 'real' };
  const { issuer, server } = await listen(async (issuer) => {
    const provider = new Provider(issuer, {
      clients: [
        {
          client_id: CLIENT.id,
          client_secret: CLIENT.secret,
          token_endpoint_auth_method: 'client_secret_post',
          redirect_uris: [`${publicUrl}/auth/oidc/callback`],
          post_logout_redirect_uris: [`${publicUrl}/sign-in`],
          backchannel_logout_uri: `${publicUrl}/auth/oidc/backchannel-logout`,
          backchannel_logout_session_required: true,
        },
      ],
      jwks: { keys: [jwk] },
      cookies: { keys: ['a key for cookies'] },
      claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
      features: {
        devInteractions: { enabled: false },
        backchannelLogout: { enabled: true },
        rpInitiatedLogout: {
          logoutSource(ctx: { body: string }, form: string) {
            ctx.body = `<!doctype html><title>Provider</title>${form}<button form="op.logoutForm" name="logout" value="yes">Sign out here</button>`;
          },
        },
      },
      ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
      // Its own refuses addresses of this machine.
      fetch: (url: string, { dispatcher: _, ...options }: RequestInit) => fetch(url, options),
      interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
      findAccount: (_: unknown, accountId: string) => ({
        accountId,
        claims: () => ({ sub: accountId, ...users[accountId] }),
      }),
      async loadExistingGrant(ctx: { oidc: Oidc }) {
        const { client, session } = ctx.oidc;
        const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
        grant.addOIDCScope('openid email groups');
        await grant.save();
        return grant;
      },
    });
    const handle = provider.callback();
    return async (request, response) => {
      if (!request.url?.startsWith('/interaction/')) return handle(request, response);
      if (request.method === 'GET') {
        response.setHeader('content-type', 'text/html');
        response.end(
          '<!doctype html><title>Provider</title><form method="post"><label>User <input name="user"></label><button>Continue</button></form>',
        );
        return;
      }
      const form = new URLSearchParams(Buffer.concat(await request.toArray()).toString());
      await provider.interactionFinished(request, response, { login: { accountId: form.get('user') ?? '' } });
    };
  });
  return { issuer, close: () => close(server) };
}

interface Oidc {
  client: { clientId: string };
  session: { accountId: string };
}

/** How a case differs from an honest response. */
export interface Lie {
  claims?: JWTPayload;
  /** none: unsigned; secret: by the client's secret; stranger: by another key. */
  signedBy?: 'none' | 'secret' | 'stranger';
}

/** A provider that signs what a test says. */
export async function startHostileProvider() {
  const [own, other] = await Promise.all([generateKeyPair('RS256', { extractable: true }), generateKeyPair('RS256')]);
  const idTokens = new Map<string, string>();
  const asked: URLSearchParams[] = [];
  const jwk = { ...(await exportJWK(own.publicKey)), alg: 'RS256', use: 'sig', kid: 'own' };
  const { issuer, server } = await listen(async (issuer) => {
    const metadata = {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
      authorization_response_iss_parameter_supported: true,
    };
    const documents: Record<string, object> = {
      '/.well-known/openid-configuration': metadata,
      // As Microsoft Entra does for "common".
      '/common/.well-known/openid-configuration': metadata,
      '/jwks': { keys: [jwk] },
    };
    return async (request, response) => {
      response.setHeader('content-type', 'application/json');
      const document = documents[request.url ?? ''];
      if (document) return response.end(JSON.stringify(document));
      const form = new URLSearchParams(Buffer.concat(await request.toArray()).toString());
      asked.push(form);
      const idToken = idTokens.get(form.get('code') ?? '');
      response.statusCode = idToken ? 200 : 400;
      const tokens = { access_token: 'x', token_type: 'Bearer', id_token: idToken };
      response.end(JSON.stringify(idToken ? tokens : { error: 'invalid_grant', error_description: 'unknown code' }));
    };
  });

  /** A token of the provider for the service; a claim that is undefined is left out. */
  async function sign({ claims = {}, signedBy }: Lie, typ = 'JWT'): Promise<string> {
    const now = Math.floor(Date.now() / 1_000);
    const payload = { iss: issuer, aud: CLIENT.id, iat: now, exp: now + 300, ...claims };
    if (signedBy === 'none') return [{ alg: 'none', typ }, payload].map(encoded).join('.').concat('.');
    const token = new SignJWT(payload);
    if (signedBy === 'secret') {
      return token.setProtectedHeader({ alg: 'HS256', typ }).sign(new TextEncoder().encode(CLIENT.secret));
    }
    return token.setProtectedHeader({ alg: 'RS256', typ, kid: 'own' }).sign((signedBy ? other : own).privateKey);
  }

  /** A code for which the provider gives an ID token. */
  async function codeFor(lie: Lie): Promise<string> {
    const idToken = await sign(lie);
    const code = `code-${idTokens.size}`;
    idTokens.set(code, idToken);
    return code;
  }
  return { issuer, asked, sign, codeFor, close: () => close(server) };
}

export type HostileProvider = Awaited<ReturnType<typeof startHostileProvider>>;

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
