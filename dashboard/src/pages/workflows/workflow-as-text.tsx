// A workflow as files, as they stand in a repository, and as the call that saves it.
import { useState } from 'react'
import type { Schemas } from '../../api.ts'
import { answerOf, client } from '../../api.ts'
import { useAsk } from '../../ask.ts'
import { Choice } from '../../ui/controls.tsx'
import { Code } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Answered, Notice } from '../../ui/page.tsx'
import { quoted, serviceUrl } from '../activity/curl.ts'
import type { Draft } from './draft.ts'
import { bodyOf } from './draft.ts'

export function WorkflowAsText({
  workflow,
  draft,
  isChanged,
  onClose,
}: {
  workflow: Schemas['Workflow']
  draft: Draft
  isChanged: boolean
  onClose: () => void
}) {
  const [view, setView] = useState<'file' | 'call'>('file')
  const files = useAsk(['workflows', 'files', workflow._id, workflow.updatedAt], () =>
    answerOf(
      client.GET('/v1/workflows/{workflowId}/versions/{version}/files', {
        params: { path: { workflowId: workflow._id, version: 'current' } },
      }),
    ),
  )
  return (
    <Dialog title="As text" width="max-w-3xl" onClose={onClose}>
      <div className="flex flex-col gap-3">
        <Choice
          label="How to show it"
          value={view}
          options={[
            ['file', 'File (YAML)'],
            ['call', 'API call'],
          ]}
          onChange={setView}
        />
        {view === 'call' ? (
          <Code
            label="API call"
            text={`curl -X PATCH ${serviceUrl}/v1/workflows/${workflow._id} \\\n  -H "Authorization: ApiKey $POSTHORN_KEY" \\\n  --json ${quoted(JSON.stringify(bodyOf(draft), undefined, 2))}`}
          />
        ) : (
          <>
            {isChanged && <Notice tone="info">This is the saved version; your changes are not in it yet.</Notice>}
            <Answered of={files}>
              {({ files: all }) => (
                <>
                  {all.map(({ path, text }) => (
                    <figure key={path}>
                      <figcaption className="mb-1 font-mono text-xs text-ink-2">{path}</figcaption>
                      <Code label={path} text={text} />
                    </figure>
                  ))}
                </>
              )}
            </Answered>
            <p className="text-ink-2">
              All workflows as files: <code className="font-mono text-xs">npx posthorn workflows pull flows</code>
            </p>
          </>
        )}
      </div>
    </Dialog>
  )
}
