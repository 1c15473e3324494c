// An e-mail: its subject, its layout, and its words as blocks or as HTML.
import { useState } from 'react'
import { ApiError, answerOf, client } from '../../api.ts'
import { useAsk } from '../../ask.ts'
import { Choice, SelectField, TextField } from '../../ui/controls.tsx'
import { Notice } from '../../ui/page.tsx'
import { TemplateField } from '../../ui/template-field.tsx'
import { BlockList } from './block-list.tsx'
import { blocksOfContent, contentOfBlocks, htmlOf } from './blocks.ts'
import type { Json } from './draft.ts'
import type { StepFormProps } from './step-fields.tsx'
import { errorAt, useVariables, Variables } from './step-fields.tsx'

export function EmailForm(props: StepFormProps) {
  const { step, onChange } = props
  const template = step.template as Json & {
    subject?: string
    preheader?: string
    senderName?: string
    contentType?: string
    content?: unknown
    _layoutId?: string
    layoutId?: string
  }
  const set = (members: Json) => onChange({ ...step, template: { ...step.template, ...members } })
  const variables = useVariables()
  const blocks = blocksOfContent(template.content)
  const [isHtml, setHtml] = useState(blocks === undefined)
  // Discarding brings blocks back: the choice of HTML ends with the HTML that it was made for.
  const isText = typeof template.content === 'string'
  if (isHtml && !isText) setHtml(false)
  const contentError = errorAt(props, 'template.content')
  const layouts = useAsk(['layouts', 'names'], () =>
    answerOf(client.GET('/v1/layouts', { params: { query: { limit: 100 } } })),
  )
  const layoutId = template._layoutId ?? template.layoutId ?? ''
  const isListed =
    layoutId === '' || layouts.data === undefined || layouts.data.data.some(({ _id }) => _id === layoutId)
  // One beyond the first hundred, or one that was deleted: it is shown as what it is, not as the default one.
  const other = useAsk(
    ['layouts', 'name', layoutId],
    () =>
      answerOf(client.GET('/v1/layouts/{layoutId}', { params: { path: { layoutId } } })).then(
        ({ name }) => name,
        (error: unknown) => {
          if (error instanceof ApiError && error.status === 404) return 'A deleted layout'
          throw error
        },
      ),
    { enabled: !isListed },
  )
  return (
    <>
      <TemplateField
        label="Subject"
        variables={variables}
        value={template.subject ?? ''}
        error={errorAt(props, 'template.subject')}
        onText={(subject) => set({ subject })}
      />
      <TemplateField
        label="Preview line"
        variables={variables}
        hint="What inboxes show beside the subject."
        value={template.preheader ?? ''}
        onText={(preheader) => set({ preheader })}
      />
      <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
        <TextField
          label="Sender’s name"
          hint="Else that of the integration."
          value={template.senderName ?? ''}
          onText={(senderName) => set({ senderName })}
        />
        <SelectField
          label="Layout"
          value={layoutId}
          options={[
            ['', 'The default one'],
            ...(layouts.data?.data.map(({ _id, name }) => [_id ?? '', name] as const) ?? []),
            ...(isListed ? [] : [[layoutId, other.data ?? 'Another layout'] as const]),
          ]}
          onText={(next) => {
            const { _layoutId: _old, layoutId: _before, ...rest } = step.template
            onChange({ ...step, template: { ...rest, type: 'email', ...(next === '' ? {} : { layoutId: next }) } })
          }}
        />
      </div>
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
          value={String(template.content)}
          variables={variables}
          error={contentError}
          hint={<Variables />}
          onText={(content) => set({ contentType: 'customHtml', content })}
        />
      ) : blocks === undefined ? (
        <Notice tone="info">
          This HTML was not made of blocks, so it is edited as HTML. Empty it to start with blocks.
        </Notice>
      ) : (
        <>
          {contentError !== undefined && <p className="text-xs text-red">{contentError}</p>}
          <BlockList blocks={blocks} onChange={(next) => set(contentOfBlocks(next) as unknown as Json)} />
          <p className="text-xs text-ink-3">
            <Variables />
          </p>
        </>
      )}
    </>
  )
}
