import { version } from '../../../../package.json';
import { useMay, useMe } from '../../api/current-user.ts';
import { Icon } from '../../ui/icon.tsx';
import { Card, Fact, Page } from '../../ui/page.tsx';
import { Appearance } from './appearance.tsx';
import { AccountLimits } from './installation-limits.tsx';
import { GivenSettings } from './startup-settings.tsx';

const LINKS: [href: string, label: string, what: string][] = [
  ['/docs', 'API reference', 'every route, with an example'],
  ['/openapi.json', 'openapi.json', 'the same, for machines'],
  ['/queues', 'Bull Board', 'queues and jobs, on a page of its own'],
];

export default function SettingsPage() {
  const admin = useMay('admin');
  return (
    <Page title="Settings" lead="How this service is set up, and how the dashboard looks to you.">
      <div className="space-y-6">
        <div className="grid items-start gap-6 lg:grid-cols-2">
          <div className="space-y-6">
            <About />
            <Appearance />
          </div>
          <div className="space-y-6">
            <AccountLimits />
            <Links />
          </div>
        </div>
        {admin && <GivenSettings />}
      </div>
    </Page>
  );
}

function About() {
  const me = useMe();
  return (
    <Card title="This service">
      <dl className="grid gap-x-8 gap-y-3 p-4 sm:grid-cols-2">
        <Fact name="Version">{version}</Fact>
        <Fact name="Mode">{me === undefined ? '…' : me.kind === 'dev' ? 'dev' : 'production'}</Fact>
        <Fact name="You are">{me?.name ?? '…'}</Fact>
        <Fact name="Your access">{me?.access ?? '…'}</Fact>
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
