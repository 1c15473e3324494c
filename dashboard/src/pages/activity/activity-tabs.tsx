// What happened, by notification or by message.
import { useEnvironment } from '../../session.tsx'
import { LinkTabs } from '../../ui/controls.tsx'

export function ActivityTabs({ of: shown }: { of: 'notifications' | 'messages' }) {
  const { slug } = useEnvironment()
  return (
    <LinkTabs
      label="Activity"
      tabs={[
        { to: `/${slug}/activity`, text: 'Notifications', isActive: shown === 'notifications' },
        { to: `/${slug}/activity/messages`, text: 'Messages', isActive: shown === 'messages' },
      ]}
    />
  )
}
