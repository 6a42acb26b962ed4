import { SecretDialog } from '../../ui/secret-dialog.tsx';

/** @param secret undefined: closed */
export default function SigningSecretDialog({ secret, onClose }: { secret: string | undefined; onClose(): void }) {
  return (
    <SecretDialog
      title="Signing secret"
      secret={secret}
      label="Copy signing secret"
      warning="Copy it now. It is shown only once."
      onClose={onClose}
    >
      <p>
        Requests are signed by Standard Webhooks. Give this secret to the receiver, whose library checks them with it.
      </p>
    </SecretDialog>
  );
}
