// The same from your own code, with the real address, and a key made by a click.
import { useState } from 'react'
import { answerOf, client } from '../../api.ts'
import { useChange } from '../../ask.ts'
import { useMayChange } from '../../session.tsx'
import { Button, Choice } from '../../ui/controls.tsx'
import { Code } from '../../ui/copy.tsx'
import { Notice, Section } from '../../ui/page.tsx'
import { quoted, serviceUrl } from '../activity/curl.ts'
import { firstWorkflowId } from './first-workflow.ts'

type Language = 'curl' | 'node' | 'python' | 'novu'

export function Snippets({ person }: { person: { subscriberId: string; firstName: string; email: string } }) {
  const [language, setLanguage] = useState<Language>('curl')
  const mayChange = useMayChange()
  const make = useChange(
    () => answerOf(client.POST('/v1/environments/api-keys', { body: { name: 'My application', scopes: ['trigger'] } })),
    { touches: ['keys'] },
  )
  const event = { name: firstWorkflowId, to: person, payload: { order: { id: 7, items: 3 } } }
  const body = JSON.stringify(event, undefined, 2)
  const texts: Record<Language, string> = {
    curl: `curl ${serviceUrl}/v1/events/trigger \\\n  -H "Authorization: ApiKey $POSTHORN_KEY" \\\n  --json ${quoted(body)}`,
    node: `const response = await fetch('${serviceUrl}/v1/events/trigger', {\n  method: 'POST',\n  headers: {\n    authorization: \`ApiKey \${process.env.POSTHORN_KEY}\`,\n    'content-type': 'application/json',\n  },\n  body: JSON.stringify(${body}),\n})\nconsole.log(await response.json())`,
    python: `import json, os, urllib.request\n\nrequest = urllib.request.Request(\n    "${serviceUrl}/v1/events/trigger",\n    json.dumps(${body}).encode(),\n    {"Authorization": f"ApiKey {os.environ['POSTHORN_KEY']}", "Content-Type": "application/json"},\n)\nprint(json.load(urllib.request.urlopen(request)))`,
    novu: `import { Novu } from '@novu/api'\n\nconst novu = new Novu({ secretKey: process.env.POSTHORN_KEY, serverURL: '${serviceUrl}' })\nawait novu.trigger({\n  workflowId: '${firstWorkflowId}',\n  to: ${JSON.stringify(person)},\n  payload: { order: { id: 7, items: 3 } },\n})`,
  }
  return (
    <Section
      title="From your code"
      actions={
        <Choice
          label="Language"
          value={language}
          onChange={setLanguage}
          options={[
            ['curl', 'curl'],
            ['node', 'Node.js'],
            ['python', 'Python'],
            ['novu', '@novu/api'],
          ]}
        />
      }
    >
      <div className="flex flex-col gap-3 p-4">
        <Code label="snippet" text={texts[language]} />
        {make.data === undefined ? (
          mayChange && (
            <div className="flex flex-wrap items-center gap-3">
              <Button icon="key" busy={make.isPending} onClick={() => make.mutate(undefined)}>
                Create a key for it
              </Button>
              <span className="text-xs text-ink-3">It may trigger events, and nothing else.</span>
            </div>
          )
        ) : (
          <>
            <Notice tone="good">This is the only time the key is shown.</Notice>
            <Code label="key" text={`export POSTHORN_KEY=${make.data.key}`} />
          </>
        )}
      </div>
    </Section>
  )
}
