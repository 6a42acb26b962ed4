import { version } from '../../../../package.json';
import { useCurrentUser } from '../../api/current-user.ts';
import { Icon } from '../../ui/icon.tsx';
import { Card, DescriptionItem, Page } from '../../ui/page.tsx';
import { InstallationLimits } from './installation-limits.tsx';
import { StartupSettings } from './startup-settings.tsx';
import { StorageCard } from './storage.tsx';

const LINKS: [href: string, label: string, text: string][] = [
  ['/docs', 'API reference', 'all routes, with examples'],
  ['/openapi.json', 'openapi.json', 'OpenAPI document'],
  ['/queues', 'Bull Board', 'queues and jobs'],
];

export default function SettingsPage() {
  return (
    <Page title="Settings" description="Configuration of the service.">
      <div className="space-y-6">
        <StartupSettings />
        <div className="grid items-start gap-6 lg:grid-cols-2">
          <div className="space-y-6">
            <About />
            <InstallationLimits />
          </div>
          <div className="space-y-6">
            <StorageCard />
            <Links />
          </div>
        </div>
      </div>
    </Page>
  );
}

function About() {
  const me = useCurrentUser();
  return (
    <Card title="Service">
      <dl className="grid gap-x-8 gap-y-3 p-4 sm:grid-cols-2">
        <DescriptionItem term="Version">{version}</DescriptionItem>
        <DescriptionItem term="Mode">
          {me === undefined ? '…' : me.kind === 'dev' ? 'dev' : 'production'}
        </DescriptionItem>
        <DescriptionItem term="Signed in as">{me?.name ?? '…'}</DescriptionItem>
        <DescriptionItem term="Access">{me?.access ?? '…'}</DescriptionItem>
      </dl>
    </Card>
  );
}

function Links() {
  return (
    <Card title="Links">
      <ul className="divide-y divide-line">
        {LINKS.map(([href, label, text]) => (
          <li key={href}>
            <a href={href} className="flex items-center gap-3 px-4 py-3 hover:bg-sunken">
              <span className="min-w-0 flex-1">
                <span className="block font-medium">{label}</span>
                <span className="block text-sm text-muted">{text}</span>
              </span>
              <Icon name="arrow-right" className="text-muted" />
            </a>
          </li>
        ))}
      </ul>
    </Card>
  );
}
