import { version } from '../../../../package.json';
import { useCurrentUser, useHasAccess } from '../../api/current-user.ts';
import { Icon } from '../../ui/icon.tsx';
import { Card, DescriptionItem, Page } from '../../ui/page.tsx';
import { Appearance } from './appearance.tsx';
import { InstallationLimits } from './installation-limits.tsx';
import { StartupSettings } from './startup-settings.tsx';

const LINKS: [href: string, label: string, what: string][] = [
  ['/docs', 'API reference', 'every route, with an example'],
  ['/openapi.json', 'openapi.json', 'the same, for machines'],
  ['/queues', 'Bull Board', 'queues and jobs, on a page of its own'],
];

export default function SettingsPage() {
  const admin = useHasAccess('admin');
  return (
    <Page title="Settings" description="How this service is set up, and how the dashboard looks to you.">
      <div className="space-y-6">
        <div className="grid items-start gap-6 lg:grid-cols-2">
          <div className="space-y-6">
            <About />
            <Appearance />
          </div>
          <div className="space-y-6">
            <InstallationLimits />
            <Links />
          </div>
        </div>
        {admin && <StartupSettings />}
      </div>
    </Page>
  );
}

function About() {
  const me = useCurrentUser();
  return (
    <Card title="This service">
      <dl className="grid gap-x-8 gap-y-3 p-4 sm:grid-cols-2">
        <DescriptionItem name="Version">{version}</DescriptionItem>
        <DescriptionItem name="Mode">
          {me === undefined ? '…' : me.kind === 'dev' ? 'dev' : 'production'}
        </DescriptionItem>
        <DescriptionItem name="You are">{me?.name ?? '…'}</DescriptionItem>
        <DescriptionItem name="Your access">{me?.access ?? '…'}</DescriptionItem>
      </dl>
    </Card>
  );
}

function Links() {
  return (
    <Card title="Beside the dashboard">
      <ul className="divide-y divide-line">
        {LINKS.map(([href, label, what]) => (
          <li key={href}>
            <a href={href} className="flex items-center gap-3 px-4 py-3 hover:bg-sunken">
              <span className="min-w-0 flex-1">
                <span className="block font-medium">{label}</span>
                <span className="block text-sm text-muted">{what}</span>
              </span>
              <Icon name="arrow" className="text-muted" />
            </a>
          </li>
        ))}
      </ul>
    </Card>
  );
}
