/** Settings of single sign-on: the providers, and which of their users get which role (docs/single-sign-on.md). */
import { z } from 'zod';

/** A role of a user, by its own name or by that of its access. */
const ROLES = {
  admin: 'admin',
  member: 'member',
  write: 'member',
  'read-only': 'read-only',
  read: 'read-only',
  none: 'none',
} as const;
type RoleName = (typeof ROLES)[keyof typeof ROLES];

export interface RoleRule {
  /** A group of the provider; `*`: every user. */
  group: string;
  role: RoleName;
  /** The environment where the role replaces that of the other rules; "branches": all branch environments; absent: the role itself. */
  environment?: string;
}

/** ID of the provider of OIDC_ISSUER. */
export const MAIN_PROVIDER = 'main';
export const SIGN_UPS = ['first-sign-in', 'invited'] as const;
const EXPECTED_RULES =
  'expected rules such as admins=admin,devs=read-only,devs=member@staging, or the same as JSON: {"devs": ["read-only", "member@staging"]}';

const rulesByGroupSchema = z.record(z.string(), z.union([z.string(), z.array(z.string())]));
type RulesByGroup = z.output<typeof rulesByGroupSchema>;

/** `admins=admin,devs=read,devs=write@staging`, or a JSON object for groups whose names have commas. */
export const roleRulesSchema = z.union([z.string(), rulesByGroupSchema]).transform((given, context) => {
  const rules = pairsOf(given)?.map(ruleOf);
  if (rules && rules.length > 0 && rules.every((rule) => rule !== undefined)) return rules;
  context.addIssue({ code: 'custom', message: EXPECTED_RULES, input: given });
  return z.NEVER;
});

function ruleOf([group, given]: [string, string]): RoleRule | undefined {
  const [name = '', environment, ...more] = given.split('@');
  if (group === '' || !Object.hasOwn(ROLES, name) || environment === '' || more.length > 0) return undefined;
  return { group, role: ROLES[name as keyof typeof ROLES], ...(environment !== undefined && { environment }) };
}

function pairsOf(given: string | RulesByGroup): [string, string][] | undefined {
  if (typeof given !== 'string') {
    return Object.entries(given).flatMap(([group, roles]) =>
      [roles].flat().map((role): [string, string] => [group, role]),
    );
  }
  if (given.trimStart().startsWith('{')) {
    const parsed = rulesByGroupSchema.safeParse(jsonOf(given));
    return parsed.success ? pairsOf(parsed.data) : undefined;
  }
  return given.split(',').map((rule) => {
    const end = rule.lastIndexOf('=');
    return [rule.slice(0, Math.max(end, 0)).trim(), rule.slice(end + 1).trim()];
  });
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** An https URL, or one of this machine. */
export const issuerSchema = z
  .url({ protocol: /^https?$/ })
  .refine((text) => /^https:|^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::|\/|$)/.test(text), {
    error: 'expected an https URL, or an address of this machine',
  })
  .refine((text) => !/[?#]/.test(text), { error: 'expected no query and no fragment' });

export const domainsSchema = z
  .union([z.string(), z.array(z.string())])
  .transform((given) => (typeof given === 'string' ? given.split(',') : given))
  .transform((domains) => domains.map((domain) => domain.trim().toLowerCase().replace(/^@/, '')).filter(Boolean));

const claim = z.string().min(1).max(256);

/** A provider in the setting OIDC_PROVIDERS. */
const providerSchema = z
  .strictObject({
    id: z.string().regex(/^[a-z0-9-]{1,32}$/, 'expected 1 to 32 lower-case letters, digits and hyphens'),
    name: z.string().min(1).max(64).optional(),
    issuer: issuerSchema,
    client_id: z.string().min(1),
    client_secret: z.string().min(1),
    scopes: z.string().optional(),
    role_rules: roleRulesSchema.optional(),
    groups_claim: claim.optional(),
    verified_claim: claim.optional(),
    allowed_domains: domainsSchema.optional(),
    sign_up: z.enum(SIGN_UPS).optional(),
  })
  .transform((provider) =>
    toProvider({
      id: provider.id,
      name: provider.name,
      issuer: provider.issuer,
      clientId: provider.client_id,
      clientSecret: provider.client_secret,
      scopes: provider.scopes,
      roleRules: provider.role_rules,
      groupsClaim: provider.groups_claim,
      verifiedClaim: provider.verified_claim,
      allowedDomains: provider.allowed_domains,
      signUp: provider.sign_up,
    }),
  );

export const providersSchema = z
  .string()
  .transform(jsonOf)
  .pipe(z.array(providerSchema, { error: 'expected a JSON array of objects' }));

export interface OidcProvider {
  /** ID in the paths of this service. */
  id: string;
  /** Label of the button on the sign-in page. */
  name: string;
  issuer: string;
  clientId: string;
  clientSecret: string;
  scopes: string;
  /** undefined: a user keeps the role of the invitation. */
  roleRules: RoleRule[] | undefined;
  groupsClaim: string;
  /** The claim that says that the email address belongs to the user. */
  verifiedClaim: string;
  /** Empty: all. */
  allowedDomains: string[];
  signUp: (typeof SIGN_UPS)[number];
}

type Optional = 'name' | 'scopes' | 'groupsClaim' | 'verifiedClaim' | 'allowedDomains' | 'signUp';
type Given = Omit<OidcProvider, Optional> & { [Name in Optional]: OidcProvider[Name] | undefined };

export function toProvider(given: Given): OidcProvider {
  return {
    ...given,
    name: given.name ?? new URL(given.issuer).host,
    scopes: given.scopes ?? 'openid email profile',
    groupsClaim: given.groupsClaim ?? 'groups',
    verifiedClaim: given.verifiedClaim ?? 'email_verified',
    allowedDomains: given.allowedDomains ?? [],
    signUp: given.signUp ?? 'invited',
  };
}

/** @returns problems of the settings, one line each */
export function providerProblems(providers: readonly OidcProvider[]): string[] {
  const problems: string[] = [];
  const ids = providers.map(({ id }) => id);
  const twice = ids.find((id, at) => ids.indexOf(id) !== at);
  if (twice !== undefined) problems.push(`OIDC_PROVIDERS: two providers have the id "${twice}"; give each its own`);
  for (const { name, roleRules, signUp, allowedDomains } of providers) {
    if (signUp !== 'first-sign-in') continue;
    if (!roleRules) problems.push(`OIDC_ROLE_RULES: ${name} lets users sign up by themselves; say which role they get`);
    if (roleRules?.some(({ group }) => group === '*') && allowedDomains.length === 0) {
      problems.push(
        `OIDC_ALLOWED_DOMAINS: not set, so the rule * lets everybody sign up whom ${name} knows; name your domains`,
      );
    }
  }
  return problems;
}
