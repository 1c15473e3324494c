// What the pages of the settings have in common: one title, and a tab for each.
import type { ReactNode } from 'react'
import { useEnvironment } from '../../session.tsx'
import { LinkTabs } from '../../ui/controls.tsx'
import { Page } from '../../ui/page.tsx'

export function SettingsFrame({
  title,
  lead,
  actions,
  children,
}: {
  title: string
  lead: string
  actions?: ReactNode
  children: ReactNode
}) {
  const { slug, session } = useEnvironment()
  const at = `/${slug}/settings`
  return (
    <Page title={title} lead={lead} actions={actions} above={<p className="mb-1 text-xs text-ink-2">Settings</p>}>
      <LinkTabs
        label="Settings"
        tabs={[
          { to: at, text: 'API keys' },
          ...(session.managesUsers ? [{ to: `${at}/users`, text: 'Users' }] : []),
          { to: `${at}/environments`, text: 'Environments' },
          { to: `${at}/signing`, text: 'Signing' },
          { to: `${at}/suppressions`, text: 'Suppressions' },
          { to: `${at}/audit`, text: 'Audit log' },
          { to: `${at}/retention`, text: 'Retention' },
          { to: `${at}/health`, text: 'Health' },
        ]}
      />
      {children}
    </Page>
  )
}
