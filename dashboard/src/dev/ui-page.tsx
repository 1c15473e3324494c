// All shared parts in their states, in both themes: for whoever works on them. Only in development, never in what is built.
import { useState } from 'react'
import type { Environment } from '../session.tsx'
import { EnvironmentContext } from '../session.tsx'
import { Button } from '../ui/controls.tsx'
import { Page } from '../ui/page.tsx'
import { contentStories } from './content-stories.tsx'
import { controlStories } from './control-stories.tsx'
import { listStories } from './list-stories.tsx'
import { pageStories } from './page-stories.tsx'
import type { Story } from './story.tsx'

const stories: readonly Story[] = [...controlStories, ...pageStories, ...listStories, ...contentStories]

/** A session that may do everything, in an environment that does not exist: no part of this page asks the service for anything. */
const environment = {
  // As a page calls before it is of an environment.
  id: '*',
  name: 'Parts',
  slug: 'dev',
  session: { scopes: ['full'] },
} as unknown as Environment

export function UiPage() {
  const [, setTheme] = useState(document.documentElement.dataset.theme)
  const turn = () => {
    const next = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'
    document.documentElement.dataset.theme = next
    setTheme(next)
  }
  return (
    <EnvironmentContext value={environment}>
      <main>
        <Page
          title="Shared parts"
          count={String(stories.length)}
          lead="Everything in dashboard/src/ui, in its states. A part without a story here fails a test."
          actions={<Button onClick={turn}>Other theme</Button>}
        >
          <nav aria-label="Parts" className="flex flex-wrap gap-x-3 gap-y-1 text-xs">
            {stories.map(({ name }) => (
              <a key={name} href={`${location.pathname}#${idOf(name)}`} className="link">
                {name}
              </a>
            ))}
          </nav>
          {stories.map(({ name, shows: Shows }) => (
            <section key={name} id={idOf(name)} aria-label={name} className="flex flex-col gap-3">
              <h2 className="text-base font-semibold">{name}</h2>
              <Shows />
            </section>
          ))}
        </Page>
      </main>
    </EnvironmentContext>
  )
}

const idOf = (name: string): string => name.toLowerCase().replaceAll(/\W+/g, '-')
