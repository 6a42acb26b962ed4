/** The pages for signing in and setting passwords: plain HTML forms. */
import { TOKEN_LIFETIME_HOURS } from '../../store/auth/one-time-tokens.ts';
import { escapeHtml, inlineStyle } from '../http/html-page.ts';

export const STYLE = inlineStyle(`
:root { color-scheme: light dark; --accent: #0f766e; --line: color-mix(in srgb, currentColor 20%, transparent); }
body { font: 16px/1.5 system-ui, sans-serif; display: grid; place-items: center; min-height: 100vh; margin: 0; }
main { width: min(22rem, calc(100vw - 3rem)); padding: 2rem 0 4rem; }
h1 { font-size: 1.4rem; margin: 0 0 .25rem; }
p { margin: 0 0 1.5rem; opacity: .8; }
p[role=alert] { opacity: 1; border-left: 3px solid #b91c1c; padding: .4rem .8rem; }
label { display: block; margin-bottom: 1rem; font-size: .9rem; }
input { font: inherit; box-sizing: border-box; width: 100%; margin-top: .25rem; padding: .55rem .7rem; border: 1px solid var(--line); border-radius: .4rem; background: transparent; color: inherit; }
button, .button { font: inherit; font-weight: 600; width: 100%; padding: .6rem; border: 0; border-radius: .4rem; background: var(--accent); color: #fff; cursor: pointer; }
.button { display: block; box-sizing: border-box; margin-bottom: .75rem; text-align: center; text-decoration: none; }
.button + form, .button + details { margin-top: 1.5rem; padding-top: 1.5rem; border-top: 1px solid var(--line); }
summary { cursor: pointer; margin-bottom: 1rem; }
summary:focus-visible, input:focus-visible, button:focus-visible, a:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
small { display: block; margin-top: .25rem; opacity: .7; }
`);

/** @param value the user's input in the previous attempt */
function emailField(value = '', isSecondary = false): string {
  const focus = value === '' && !isSecondary ? ' autofocus' : '';
  return field('email', 'Email address', `type="email" autocomplete="username" value="${escapeHtml(value)}"${focus}`);
}

const NEW_PASSWORD = field(
  'password',
  'Password',
  'type="password" autocomplete="new-password" minlength="12"',
  'At least 12 characters',
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
}

export function signInPage(next: string, offered: Offered, { error, email }: Partial<Attempt> = {}): string {
  const focus = email ? ' autofocus' : '';
  const password = field('password', 'Password', `type="password" autocomplete="current-password"${focus}`);
  const fields = [emailField(email, offered.providers.length > 0), password, hidden('next', next)];
  const passwords = form('/auth/sign-in', 'Sign in', fields);
  return page(
    'Sign in',
    'to see the events, runs and functions of this service.',
    alert(error) +
      links('Sign in with', offered, next) +
      (offered.passwords
        ? passwords
        : `<details${email ? ' open' : ''}><summary>Password sign-in is off, except for emergency admins</summary>${passwords}</details>`),
  );
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

function page(title: string, lead: string, content: string, head = ''): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><title>${escapeHtml(title)} · Tidegate</title>${STYLE.tag}${head}</head>
<body><main><h1>${escapeHtml(title)}</h1><p>${escapeHtml(lead)}</p>${content}</main></body></html>`;
}

function form(action: string, button: string, fields: string[], error?: string): string {
  return `${alert(error)}<form method="post" action="${action}">${fields.join('')}<button>${escapeHtml(button)}</button></form>`;
}

function alert(error: string | undefined): string {
  return error === undefined ? '' : `<p role="alert">${escapeHtml(error)}</p>`;
}

function field(name: string, label: string, attributes: string, hint?: string): string {
  const small = hint === undefined ? '' : `<small>${escapeHtml(hint)}</small>`;
  return `<label>${label}<input name="${name}" required ${attributes}>${small}</label>`;
}

function hidden(name: string, value: string): string {
  return `<input type="hidden" name="${name}" value="${escapeHtml(value)}">`;
}
