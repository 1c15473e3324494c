// What happened, by notification, by message or by event, what failed, and what is still to happen.
import { useEnvironment } from '../../session.tsx'
import { LinkTabs } from '../../ui/controls.tsx'

const tabs = [
  ['notifications', '', 'Notifications'],
  ['messages', '/messages', 'Messages'],
  ['failures', '/failures', 'Failures'],
  ['events', '/events', 'Events'],
  ['queue', '/queue', 'Queue'],
] as const

export function ActivityTabs({ of: shown }: { of: (typeof tabs)[number][0] }) {
  const { slug } = useEnvironment()
  return (
    <LinkTabs
      label="Activity"
      tabs={tabs.map(([name, path, text]) => ({ to: `/${slug}/activity${path}`, text, isActive: shown === name }))}
    />
  )
}
