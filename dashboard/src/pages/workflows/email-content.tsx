// The words of an e-mail: as blocks, or as HTML.
import { useState } from 'react'
import { Choice } from '../../ui/controls.tsx'
import { Notice } from '../../ui/page.tsx'
import { TemplateField } from '../../ui/template-field.tsx'
import { BlockList } from './block-list.tsx'
import { blocksOfContent, contentOfBlocks, htmlOf } from './blocks.ts'
import type { Json } from './draft.ts'
import type { FieldProps } from './step-fields.tsx'
import { faultOf, useVariables, Variables } from './step-fields.tsx'

export function EmailContent(props: FieldProps) {
  const { step, onChange } = props
  const { content } = step.template
  const set = (members: Json) => onChange({ ...step, template: { ...step.template, ...members } })
  const variables = useVariables()
  const blocks = blocksOfContent(content)
  const [isHtml, setHtml] = useState(blocks === undefined)
  // Discarding brings blocks back: the choice of HTML ends with the HTML that it was made for.
  const isText = typeof content === 'string'
  if (isHtml && !isText) setHtml(false)
  const error = faultOf(props)
  return (
    <div className="flex flex-col gap-4">
      <div className="flex items-center justify-between">
        <span className="font-medium">Content</span>
        <Choice
          label="How to write"
          value={isHtml ? 'html' : 'blocks'}
          options={[
            ['blocks', 'Blocks'],
            ['html', 'HTML'],
          ]}
          onChange={(mode) => {
            setHtml(mode === 'html')
            if (mode === 'html' && blocks !== undefined) set({ contentType: 'customHtml', content: htmlOf(blocks) })
          }}
        />
      </div>
      {isHtml && isText ? (
        <TemplateField
          label="HTML"
          rows={14}
          value={content}
          variables={variables}
          error={error}
          hint={<Variables />}
          onText={(next) => set({ contentType: 'customHtml', content: next })}
        />
      ) : blocks === undefined ? (
        <Notice tone="info">
          This HTML was not made of blocks, so it is edited as HTML. Empty it to start with blocks.
        </Notice>
      ) : (
        <>
          {error !== undefined && <p className="text-xs text-red">{error}</p>}
          <BlockList blocks={blocks} onChange={(next) => set(contentOfBlocks(next) as unknown as Json)} />
          <p className="text-xs text-ink-3">
            <Variables />
          </p>
        </>
      )}
    </div>
  )
}
