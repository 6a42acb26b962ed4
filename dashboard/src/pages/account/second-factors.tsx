import { type ReactNode, useState } from 'react';
import type { AccountView } from '../../api/types.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/page.tsx';
import { SecretDialog } from '../../ui/secret-dialog.tsx';
import { Time } from '../../ui/time.tsx';
import { PasskeyDialog, PasswordDialog, TotpDialog } from './factor-dialogs.tsx';

type Factors = AccountView['second_factors'];
type Passkey = Factors['passkeys'][number];

/** What is being changed. */
type Change = 'add-totp' | 'remove-totp' | 'add-passkey' | 'renew-codes' | Passkey;

/** What sign-in asks for after the password. */
export function SecondFactors({ email, factors }: { email: string; factors: Factors }) {
  const { totp, passkeys, recovery_codes_left: left, passkeys_available: hasPasskeys } = factors;
  const [change, setChange] = useState<Change>();
  const [codes, setCodes] = useState<string[]>();
  const hasOne = totp !== null || passkeys.length > 0;
  return (
    <Card title="Second factors">
      <p className="border-b border-line px-4 py-3 text-muted">
        {hasOne
          ? 'After your password, sign-in asks for one of these.'
          : 'Your password alone signs you in. With a second factor, a stolen password is not enough.'}
      </p>
      <ul className="divide-y divide-line">
        <Row
          name="Authenticator app"
          state={totp ? <Since verb="added" at={totp.added_at} /> : 'Codes that an app or a password manager makes.'}
        >
          {totp && (
            <Button variant="danger" onClick={() => setChange('remove-totp')}>
              Remove app
            </Button>
          )}
          <Button onClick={() => setChange('add-totp')}>{totp ? 'Set up another' : 'Set up app'}</Button>
        </Row>
        {passkeys.map((passkey) => (
          <Row key={passkey.id} name={`Passkey ${passkey.name}`} state={<PasskeyState passkey={passkey} />}>
            <Button variant="danger" onClick={() => setChange(passkey)}>
              <span>
                Remove<span className="sr-only"> {passkey.name}</span>
              </span>
            </Button>
          </Row>
        ))}
        <Row
          name="Passkeys"
          state={
            hasPasskeys
              ? 'Kept by a device, a security key or a password manager.'
              : 'Only at a host name over https, or on localhost.'
          }
        >
          <Button disabled={!hasPasskeys} onClick={() => setChange('add-passkey')}>
            Add passkey
          </Button>
        </Row>
        {hasOne && (
          <Row name="Recovery codes" state={`${left} of 10 are left, for when you lose the others.`}>
            <Button onClick={() => setChange('renew-codes')}>Make new codes</Button>
          </Row>
        )}
      </ul>
      {change && (
        <ChangeDialog
          change={change}
          email={email}
          onClose={() => setChange(undefined)}
          onDone={(fresh) => {
            setChange(undefined);
            if (fresh.length > 0) setCodes(fresh);
          }}
        />
      )}
      <SecretDialog
        title="Recovery codes"
        secret={codes?.join('\n')}
        label="Copy codes"
        warning="Keep them where you find them without this device. Each signs you in once after your password. They are shown only now."
        onClose={() => setCodes(undefined)}
      />
    </Card>
  );
}

function ChangeDialog({
  change,
  ...rest
}: {
  change: Change;
  email: string;
  onDone(codes: string[]): void;
  onClose(): void;
}) {
  switch (change) {
    case 'add-totp':
      return <TotpDialog {...rest} />;
    case 'add-passkey':
      return <PasskeyDialog {...rest} />;
    case 'remove-totp':
      return (
        <PasswordDialog
          {...rest}
          title="Remove the authenticator app?"
          text="Sign-in no longer asks for its codes."
          submitLabel="Remove"
          path="totp/remove"
        />
      );
    case 'renew-codes':
      return (
        <PasswordDialog
          {...rest}
          title="Make new recovery codes?"
          text="The codes that you have no longer work."
          submitLabel="Make codes"
          path="recovery-codes"
        />
      );
    default:
      return (
        <PasswordDialog
          {...rest}
          title={`Remove the passkey ${change.name}?`}
          text="It no longer signs you in. The device keeps it until you delete it there."
          submitLabel="Remove"
          path="passkeys/remove"
          body={{ passkey: change.id }}
        />
      );
  }
}

function Row({ name, state, children }: { name: string; state: ReactNode; children: ReactNode }) {
  return (
    <li className="flex flex-wrap items-center justify-between gap-2 px-4 py-3">
      <div className="min-w-0">
        <p className="font-medium break-words">{name}</p>
        <p className="text-sm text-muted">{state}</p>
      </div>
      <div className="flex flex-wrap gap-2">{children}</div>
    </li>
  );
}

function PasskeyState({ passkey: { added_at, last_used_at, host } }: { passkey: Passkey }) {
  return (
    <>
      for {host}, <Since verb="added" at={added_at} />
      {last_used_at && (
        <>
          , <Since verb="used" at={last_used_at} />
        </>
      )}
    </>
  );
}

function Since({ verb, at }: { verb: string; at: string }) {
  return (
    <>
      {verb} <Time at={at} />
    </>
  );
}
