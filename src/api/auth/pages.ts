/** The pages for signing in and setting passwords. */
import { PASSWORD_MIN } from '../../model/auth/user.ts';
import { TOKEN_LIFETIME_HOURS } from '../../store/auth/one-time-tokens.ts';
import { escapeHtml } from '../http/html-page.ts';
import { alert, field, form, hidden, page } from './page-layout.ts';

/** @param value the user's input in the previous attempt */
function emailField(value = '', isSecondary = false): string {
  const focus = value === '' && !isSecondary ? ' autofocus' : '';
  return field('email', 'Email address', `type="email" autocomplete="username" value="${escapeHtml(value)}"${focus}`);
}

const NEW_PASSWORD = field(
  'password',
  'Password',
  `type="password" autocomplete="new-password" minlength="${PASSWORD_MIN}"`,
  `At least ${PASSWORD_MIN} characters`,
);

/** Content of the form after a failed attempt. */
export interface Attempt {
  error: string;
  email?: string;
}

/** How people may sign in. */
export interface Offered {
  providers: { id: string; name: string }[];
  /** false: only for admins, while the provider is away. */
  passwords: boolean;
  /** false: nobody can sign in with a password yet. */
  hasUsers: boolean;
}

export function signInPage(next: string, offered: Offered, { error, email }: Partial<Attempt> = {}): string {
  return page(
    'Sign in',
    'to see the events, runs and functions of this service.',
    alert(error) + links('Sign in with', offered, next) + (offered.hasUsers ? passwords(next, offered, email) : SET_UP),
  );
}

/** Shown while there is no user who could invite others. */
const SET_UP = `<div class="notice"><p><strong>There are no users yet.</strong> Create the first admin with the set-up link: web writes it to its log when it starts, in the line “nobody can sign in yet”. It works once, for ${TOKEN_LIFETIME_HOURS} hours; restart web for another.</p>
<p>Or set <code>ADMIN_EMAIL</code> and <code>ADMIN_PASSWORD</code>, and restart web.</p></div>`;

function passwords(next: string, { providers, passwords: areOn }: Offered, email: string | undefined): string {
  const focus = email ? ' autofocus' : '';
  const password = field('password', 'Password', `type="password" autocomplete="current-password"${focus}`);
  const fields = [emailField(email, providers.length > 0), password, hidden('next', next)];
  const withPassword = form('/auth/sign-in', 'Sign in', fields, undefined, providers.length > 0 ? 'secondary' : '');
  if (areOn) return (providers.length > 0 ? '<p class="divider">or with a password</p>' : '') + withPassword;
  const open = email ? ' open' : '';
  return `<details${open}><summary>Password sign-in is off, except for emergency admins</summary>${withPassword}</details>`;
}

export function signedInPage(name: string, offered: Offered): string {
  return page(
    'Signed in',
    `as ${name}.`,
    `<p><a href="/">Open the dashboard</a></p>${links('Connect', offered, '/sign-in')}${form('/auth/sign-out', 'Sign out', [])}`,
  );
}

/** Goes on to the provider's page by itself: a redirect after a form may not lead to another site. */
export function signedOutPage(name: string, url: string): string {
  const target = escapeHtml(url);
  return page(
    'Signed out',
    `You are signed out here. ${name} signs you out too.`,
    `<p><a href="${target}">Continue to ${escapeHtml(name)}</a></p>`,
    `<meta http-equiv="refresh" content="0; url=${target}">`,
  );
}

function links(verb: string, { providers }: Offered, next: string): string {
  return providers
    .map(({ id, name }) => {
      const query = new URLSearchParams({ provider: id, next });
      return `<a class="button" href="/auth/oidc/start?${escapeHtml(query.toString())}">${verb} ${escapeHtml(name)}</a>`;
    })
    .join('');
}

export function setUpPage(token: string, { error, email }: Partial<Attempt> = {}): string {
  return page(
    'Set up',
    'Create the first admin account.',
    form('/auth/set-up', 'Create account', [emailField(email), NEW_PASSWORD, hidden('token', token)], error),
  );
}

export function setPasswordPage(token: string, { error }: Partial<Attempt> = {}): string {
  return page(
    'Set your password',
    'This signs you in, and signs you out everywhere else.',
    form('/auth/set-password', 'Set password', [NEW_PASSWORD, hidden('token', token)], error),
  );
}

export function invalidLinkPage(): string {
  return page(
    'This link does not work',
    `Links work once, for ${TOKEN_LIFETIME_HOURS} hours. Ask an admin for a new link, or look for one in the latest start-up log.`,
    '<p><a href="/sign-in">Sign in</a></p>',
  );
}

/** Shown while Redis cannot tell whether a link is valid. */
export function outagePage(message: string): string {
  return page('Try again in a moment', message, '<p><a href="">Reload this page</a></p>');
}
