import { Page } from '../../ui/page.tsx';

export default function OverviewPage() {
  return <Page title="overview">{null}</Page>;
}
