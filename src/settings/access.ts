/** Settings of authentication: keys, the first admin, single sign-on. */
import { z } from 'zod';
import { domainsSchema, issuerSchema, providersSchema, roleRulesSchema, SIGN_UPS } from './oidc.ts';
import { emailSchema, list } from './values.ts';

const signingKey = z.string().regex(/^signkey-\w+-(?:[0-9a-fA-F]{2})+$/);

export const credentials = {
  SECRET_KEY: z
    .string()
    .min(32)
    .optional()
    .describe(
      'Encrypts secrets in Redis. At least 32 characters; required in production. Generate one with `openssl rand -hex 32`',
    ),
  SECRET_KEY_FALLBACK: z
    .string()
    .min(32)
    .optional()
    .describe('Previous `SECRET_KEY`. The next start re-encrypts secrets with the new key'),
  ADMIN_EMAIL: emailSchema
    .optional()
    .describe('Email of the first admin, created at startup. If not set, web logs a link to create the first admin'),
  ADMIN_PASSWORD: z
    .string()
    .min(12)
    .max(256)
    .optional()
    .describe('Password of the first admin. At least 12 characters; requires `ADMIN_EMAIL`'),
  API_KEY: z
    .string()
    .min(16)
    .optional()
    .describe('API key with admin access, in addition to keys created in the API. At least 16 characters'),
  EVENT_KEYS: list
    .default([])
    .describe(
      'Comma-separated event keys for production, in addition to keys created in the API. At least 16 characters each',
    ),
  SIGNING_KEY: signingKey
    .optional()
    .describe(
      'Signing key of production, instead of a generated one: `signkey-<word>-<hex>`. Generate one with `echo signkey-prod-$(openssl rand -hex 32)`',
    ),
  SIGNING_KEY_FALLBACK: signingKey
    .optional()
    .describe('Previous `SIGNING_KEY`. Apps can still authenticate with it during a rotation'),
};

export const singleSignOn = {
  OIDC_ISSUER: issuerSchema
    .optional()
    .describe(
      'Issuer of an OpenID provider, such as `https://accounts.google.com`: users [sign in there](single-sign-on.md). Requires `PUBLIC_URL`',
    ),
  OIDC_CLIENT_ID: z.string().min(1).optional().describe('ID of this service at the provider'),
  OIDC_CLIENT_SECRET: z.string().min(1).optional().describe('Secret of this service at the provider'),
  OIDC_NAME: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .describe('Name of the provider on the sign-in page. Default: its host'),
  OIDC_SCOPES: z.string().default('openid email profile').describe('Scopes to ask for; Okta needs `groups` too'),
  OIDC_ROLE_RULES: roleRulesSchema
    .optional()
    .describe(
      'Roles by group, such as `admins=admin,devs=read-only,devs=member@staging`, or as JSON; the highest counts, in each environment. If not set, users have the role of their invitation',
    ),
  OIDC_GROUPS_CLAIM: z.string().min(1).default('groups').describe('Claim with the groups of a user'),
  OIDC_VERIFIED_CLAIM: z
    .string()
    .min(1)
    .default('email_verified')
    .describe('Claim that says that the email address belongs to the user. Microsoft Entra: `xms_edov`'),
  OIDC_ALLOWED_DOMAINS: domainsSchema
    .optional()
    .describe('Comma-separated domains of email addresses that may sign in. Default: all'),
  OIDC_SIGN_UP: z
    .enum(SIGN_UPS)
    .default('invited')
    .describe(
      'Who becomes a user: `invited`, only who was invited; `first-sign-in`, everybody with a role by `OIDC_ROLE_RULES`',
    ),
  OIDC_PROVIDERS: providersSchema
    .default([])
    .describe('Further providers, as a [JSON array](single-sign-on.md#several-providers)'),
  PASSWORD_SIGN_IN: z
    .stringbool()
    .default(true)
    .describe(
      'Whether users may sign in with a password. With false, only admins without single sign-on may; `ADMIN_EMAIL` and `ADMIN_PASSWORD` create one',
    ),
  REQUIRE_SECOND_FACTOR: z
    .stringbool()
    .default(false)
    .describe(
      'Whether everybody who signs in with a password needs a [second factor](security.md#second-factors). Who has none sets one up at the next sign-in',
    ),
};
