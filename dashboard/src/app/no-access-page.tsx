import { useEnv } from '../api/environment.ts';
import { Page } from '../ui/page.tsx';

/** One sentence, where the user's role does not let them read the page. */
export default function NoAccessPage({ title, isForAdmins }: { title: string; isForAdmins: boolean }) {
  const env = useEnv();
  return (
    <Page title={title}>
      <p>
        This page needs the role {isForAdmins ? 'admin' : `read-only, or a higher one, in the environment ${env}`},
        which an admin can give you under Users.
      </p>
    </Page>
  );
}
