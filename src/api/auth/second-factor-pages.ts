/** The second step of signing in: prove a second factor, or set one up. */
import { escapeHtml } from '../http/html-page.ts';
import { alert, field, form, hidden, page } from './page-layout.ts';
import { PASSKEY_SCRIPT } from './passkey-script.ts';
import type { TotpSetUp } from './second-factors.ts';

const ACTION = '/auth/second-factor';
const SET_UP_ACTION = '/auth/second-factor/set-up';
const START_AGAIN = '<p><a href="/sign-in">Sign in as somebody else</a></p>';
const CODE = 'inputmode="numeric" autocomplete="one-time-code" maxlength="6" pattern="[0-9]{6}"';

/** `passkey`: options for the browser; undefined if the user has none at this address. */
export interface Step {
  email: string;
  hasTotp: boolean;
  passkey: object | undefined;
  error?: string | undefined;
}

export function secondFactorPage({ email, hasTotp, passkey, error }: Step): string {
  const recovery = form(ACTION, 'Use recovery code', [
    field(
      'code',
      'Recovery code',
      'autocomplete="off" maxlength="32"',
      'Each works once. Without one, ask an admin to reset your second factors.',
    ),
  ]);
  const ways = [
    passkey ? passkeyForm('get', ACTION, 'Use a passkey', passkey) : '',
    hasTotp ? form(ACTION, 'Continue', [field('code', 'Code of the authenticator app', `${CODE} autofocus`)]) : '',
  ].filter((way) => way !== '');
  return page(
    'One more step',
    `Signing in as ${email}.`,
    `${alert(error)}${ways.join(OR)}<details${ways.length === 0 ? ' open' : ''}><summary>Use a recovery code</summary>${recovery}</details>${START_AGAIN}`,
    passkey ? PASSKEY_SCRIPT.tag : '',
  );
}

export function secondFactorSetUpPage({ email, passkey, error }: Omit<Step, 'hasTotp'>, totp: TotpSetUp): string {
  const app = `<p>Scan this with an authenticator app, such as the one of your password manager, then enter the code that it shows.</p>
<img class="qr" src="${totp.qr}" alt="QR code of the secret below"><p><small>Or enter this secret: <code>${totp.secret}</code></small></p>
${form(SET_UP_ACTION, 'Set up', [field('code', 'Code', CODE), hidden('set_up', totp.set_up)])}`;
  const key = passkey ? OR + passkeyForm('create', SET_UP_ACTION, 'Create a passkey', passkey) : '';
  return page(
    'Set up a second factor',
    `${email} needs one to sign in with a password.`,
    alert(error) + app + key + START_AGAIN,
    passkey ? PASSKEY_SCRIPT.tag : '',
  );
}

export function recoveryCodesPage(codes: readonly string[], next: string): string {
  return page(
    'Keep your recovery codes',
    'Each signs you in once if you lose your second factor. They are not shown again.',
    `<ul class="codes">${codes.map((code) => `<li>${code}</li>`).join('')}</ul><a class="button" href="${escapeHtml(next)}">I have saved them</a>`,
  );
}

export function interruptedPage(error: string): string {
  return page('Sign in again', error, '<p><a href="/sign-in">Sign in</a></p>');
}

const OR = '<p class="divider">or</p>';

function passkeyForm(kind: 'get' | 'create', action: string, button: string, options: object): string {
  const data = escapeHtml(JSON.stringify(options));
  return `<form method="post" action="${action}" data-passkey="${kind}" data-options="${data}" hidden>${hidden('credential', '')}<button${kind === 'create' ? ' class="secondary"' : ''}>${button}</button><p role="status"></p></form>`;
}
