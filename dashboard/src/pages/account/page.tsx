import { useQuery } from '@tanstack/react-query';
import { callApi } from '../../api/client.ts';
import { useCurrentUser } from '../../api/current-user.ts';
import type { AccountView } from '../../api/types.ts';
import { rolesText } from '../../lib/roles-text.ts';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { Appearance } from './appearance.tsx';
import { Notifications } from './notifications.tsx';
import { PasswordForm } from './password-form.tsx';
import { SecondFactors } from './second-factors.tsx';
import { Sessions } from './sessions.tsx';

/** The signed-in user's own roles, password, second factors and sessions, and what this browser keeps of their preferences. */
export default function AccountPage() {
  const me = useCurrentUser();
  const isDev = me?.kind === 'dev';
  const description = isDev ? 'Dev mode has no sign-in.' : me && `${me.name}, ${me.access} access`;
  return (
    <Page title="Account" description={description}>
      <div className="max-w-3xl space-y-8">
        {me && !isDev && <Account />}
        <Appearance />
        <Notifications />
      </div>
    </Page>
  );
}

function Account() {
  const { data, error, refetch } = useQuery({
    queryKey: ['account'],
    queryFn: ({ signal }) => callApi<AccountView>('/auth/account', { signal }),
  });
  if (error && !data) return <ErrorAlert error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading />;
  const { email, has_password, providers, second_factors, sessions } = data.data;
  return (
    <>
      <Card title="Roles">
        <p className="p-4">{rolesText(data.data)}. Admins change it under Users.</p>
      </Card>
      {has_password ? (
        <>
          <SecondFactors email={email} factors={second_factors} />
          <PasswordForm email={email} />
        </>
      ) : (
        <Card title="Sign-in">
          <p className="p-4">
            You sign in with {providers.join(' and ')}, which keeps your password and asks for second factors.
          </p>
        </Card>
      )}
      <Sessions sessions={sessions} />
    </>
  );
}
