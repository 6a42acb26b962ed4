import { getRouteApi } from '@tanstack/react-router';
import { Page } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Alerts } from './alerts.tsx';
import { Channels } from './channels.tsx';
import { Rules } from './rules.tsx';

const route = getRouteApi('/alerts');

const TABS = [
  ['open', 'Open'],
  ['past', 'Past'],
  ['rules', 'Rules'],
  ['channels', 'Channels'],
] as const;

export default function AlertsPage() {
  const { tab = 'open' } = route.useSearch();
  return (
    <Page title="Alerts" description="What is wrong, from when on people hear of it, and where.">
      <Tabs label="Alerts" tabs={TABS} current={tab} />
      {tab === 'open' && <Alerts key="open" state="open" />}
      {tab === 'past' && <Alerts key="past" state="resolved" />}
      {tab === 'rules' && <Rules />}
      {tab === 'channels' && <Channels />}
    </Page>
  );
}
