import { getRouteApi } from '@tanstack/react-router';
import { useHasAccess } from '../../api/current-user.ts';
import type { AppWithFunctions } from '../../api/types.ts';
import { connects } from '../../features/apps/connects.ts';
import { useApp } from '../../features/apps/queries.ts';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Page } from '../../ui/page.tsx';
import { AppActions } from './actions.tsx';
import { AllowedOrigins } from './allowed-origins.tsx';
import { AppConnections } from './connections.tsx';
import { DeclinedUrl } from './declined-url.tsx';
import { AppDeploys } from './deploys.tsx';
import { AppDetails } from './details.tsx';
import { AppFunctions } from './functions.tsx';
import { HealthCheck } from './health-check.tsx';
import { HeldRegistrations } from './held-registrations.tsx';
import { RefusedFunctions } from './refused-functions.tsx';
import { UnsupportedFields } from './unsupported-fields.tsx';
import { AppVersions } from './versions.tsx';
import { AppWhatIfs } from './what-ifs/what-ifs.tsx';

const route = getRouteApi('/apps/$name');

export default function AppPage() {
  const { name } = route.useParams();
  const { data, error, refetch } = useApp(name);
  if (data) return <Known key={name} app={data.data} />;
  return (
    <Page title={name}>
      {error ? <ErrorAlert error={error} onRetry={() => void refetch()} /> : <Loading rows={8} />}
    </Page>
  );
}

function Known({ app }: { app: AppWithFunctions }) {
  const canWrite = useHasAccess('write');
  return (
    <Page
      title={app.name}
      description={
        connects(app) ? (
          'Gets its calls over connections that it opens'
        ) : (
          <span className="font-mono text-xs break-all">{app.url}</span>
        )
      }
      actions={canWrite && <AppActions app={app} />}
    >
      <div className="space-y-6">
        {!app.last_sync.succeeded && (
          <ErrorAlert error={new Error(`Registration failed: ${app.last_sync.error ?? 'unknown reason'}`)} />
        )}
        <HeldRegistrations app={app.name} />
        {app.declined_url !== null && <DeclinedUrl url={app.declined_url} />}
        {app.refused_functions.length > 0 && <RefusedFunctions functions={app.refused_functions} />}
        {app.unsupported_count > 0 && <UnsupportedFields app={app} />}
        <AppDetails app={app} />
        {connects(app) && <AppConnections name={app.name} />}
        <div className="grid grid-cols-1 items-start gap-6 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
          <div className="space-y-6">
            <AppFunctions app={app} />
            {app.deploy_id !== null && <AppVersions app={app} />}
            <AppWhatIfs app={app.name} />
            <AppDeploys name={app.name} />
          </div>
          <div className="space-y-6">
            <HealthCheck app={app} />
            {!connects(app) && <AllowedOrigins app={app} />}
          </div>
        </div>
      </div>
    </Page>
  );
}
