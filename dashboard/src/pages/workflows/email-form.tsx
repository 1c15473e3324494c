// An e-mail: its subject, its layout, and its words as blocks or as HTML.
import { answerOf, client } from '../../api.ts'
import { useAsk } from '../../ask.ts'
import { Button, Choice, IconButton, SelectField, TextArea, TextField } from '../../ui/controls.tsx'
import type { Json } from './draft.ts'
import type { StepFormProps } from './step-fields.tsx'
import { errorAt, Variables } from './step-fields.tsx'

interface Block {
  readonly type: 'text' | 'button'
  readonly content: string
  readonly url?: string
  readonly styles?: { readonly textAlign?: 'left' | 'center' | 'right' }
}

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
  const isHtml = template.contentType === 'customHtml' || typeof template.content === 'string'
  const layouts = useAsk(['layouts', 'names'], () =>
    answerOf(client.GET('/v1/layouts', { params: { query: { limit: 100 } } })),
  )
  const blocks = Array.isArray(template.content) ? (template.content as Block[]) : []
  return (
    <>
      <TextField
        label="Subject"
        value={template.subject ?? ''}
        error={errorAt(props, 'template.subject')}
        onText={(subject) => set({ subject })}
      />
      <TextField
        label="Preview line"
        hint="What inboxes show beside the subject."
        value={template.preheader ?? ''}
        onText={(preheader) => set({ preheader })}
      />
      <div className="grid gap-3 sm:grid-cols-2">
        <TextField
          label="Sender’s name"
          hint="Else that of the integration."
          value={template.senderName ?? ''}
          onText={(senderName) => set({ senderName })}
        />
        <SelectField
          label="Layout"
          value={template._layoutId ?? template.layoutId ?? ''}
          options={[
            ['', 'The default one'],
            ...(layouts.data?.data.map(({ _id, name }) => [_id, name] as const) ?? []),
          ]}
          onText={(layoutId) => {
            const { _layoutId: _old, layoutId: _before, ...rest } = step.template
            onChange({ ...step, template: { ...rest, type: 'email', ...(layoutId === '' ? {} : { layoutId }) } })
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
            if (mode === 'html' && !isHtml) set({ contentType: 'customHtml', content: blocks.map(htmlOf).join('\n') })
            if (mode === 'blocks' && isHtml)
              set({ contentType: 'editor', content: [{ type: 'text', content: String(template.content ?? '') }] })
          }}
        />
      </div>
      {isHtml ? (
        <TextArea
          label="HTML"
          mono
          rows={14}
          value={String(template.content ?? '')}
          error={errorAt(props, 'template.content')}
          hint={<Variables />}
          onText={(content) => set({ content })}
        />
      ) : (
        <Blocks
          blocks={blocks}
          error={errorAt(props, 'template.content')}
          onChange={(content) => set({ contentType: 'editor', content })}
        />
      )}
    </>
  )
}

const escaped = (text: string): string => text.replaceAll('"', '&quot;')
const htmlOf = ({ type, content, url }: Block): string =>
  type === 'button' ? `<p><a href="${escaped(url ?? '')}">${content}</a></p>` : `<p>${content}</p>`

function Blocks({
  blocks,
  error,
  onChange,
}: {
  blocks: readonly Block[]
  error: string | undefined
  onChange: (blocks: Block[]) => void
}) {
  const put = (index: number, members: Partial<Block>) =>
    onChange(blocks.map((block, place) => (place === index ? { ...block, ...members } : block)))
  const move = (from: number, to: number) => {
    const block = blocks[from]
    if (block !== undefined && to >= 0 && to < blocks.length)
      onChange(blocks.toSpliced(from, 1).toSpliced(to, 0, block))
  }
  return (
    <div className="flex flex-col gap-2">
      {error !== undefined && <p className="text-xs text-red">{error}</p>}
      <ol className="flex flex-col gap-2">
        {blocks.map((block, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: blocks are known by their place
          <li key={index} className="rounded-md border border-line">
            <div className="flex items-center gap-1 border-b border-line bg-bg-2 px-2 py-0.5">
              <span className="flex-1 text-xs font-medium text-ink-2">{block.type === 'text' ? 'Text' : 'Button'}</span>
              <select
                aria-label="Alignment"
                value={block.styles?.textAlign ?? 'left'}
                onChange={(event) => put(index, { styles: { textAlign: event.target.value as 'left' } })}
                className="h-7 rounded bg-transparent text-xs text-ink-2"
              >
                <option value="left">Left</option>
                <option value="center">Centre</option>
                <option value="right">Right</option>
              </select>
              <IconButton
                name="up"
                label="Move the block up"
                disabled={index === 0}
                onClick={() => move(index, index - 1)}
                className="size-7!"
              />
              <IconButton
                name="down"
                label="Move the block down"
                disabled={index === blocks.length - 1}
                onClick={() => move(index, index + 1)}
                className="size-7!"
              />
              <IconButton
                name="trash"
                label="Remove the block"
                onClick={() => onChange(blocks.toSpliced(index, 1))}
                className="size-7!"
              />
            </div>
            <div className="flex flex-col gap-2 p-2">
              <textarea
                aria-label={block.type === 'text' ? 'Text of the block' : 'Label of the button'}
                rows={block.type === 'text' ? 3 : 1}
                value={block.content}
                onChange={(event) => put(index, { content: event.target.value })}
                className="field"
              />
              {block.type === 'button' && (
                <input
                  aria-label="Address of the button"
                  type="text"
                  placeholder="https://…"
                  value={block.url ?? ''}
                  onChange={(event) => put(index, { url: event.target.value })}
                  className="field"
                />
              )}
            </div>
          </li>
        ))}
      </ol>
      <div className="flex flex-wrap items-center gap-2">
        <Button icon="plus" onClick={() => onChange([...blocks, { type: 'text', content: '' }])}>
          Text
        </Button>
        <Button
          icon="plus"
          onClick={() => onChange([...blocks, { type: 'button', content: 'Open', url: 'https://example.com' }])}
        >
          Button
        </Button>
        <span className="text-xs text-ink-3">
          <Variables />
        </span>
      </div>
    </div>
  )
}
