// The blocks of an e-mail: added, moved, removed and filled in; some hold others.
import { Button, IconButton } from '../../ui/controls.tsx'
import { Menu } from '../../ui/menu.tsx'
import { TemplateField } from '../../ui/template-field.tsx'
import type { Align, Block } from './blocks.ts'
import { blockNames, newBlock } from './blocks.ts'
import { useVariables } from './step-fields.tsx'

const outer = ['heading', 'text', 'button', 'image', 'divider', 'columns', 'loop', 'condition'] as const
/** Columns in columns are for no mail program. */
const inner = outer.filter((type) => type !== 'columns')

export function BlockList({
  blocks,
  isInner = false,
  onChange,
}: {
  blocks: readonly Block[]
  isInner?: boolean
  onChange: (blocks: Block[]) => void
}) {
  const move = (from: number, to: number) => {
    const block = blocks[from]
    if (block !== undefined) onChange(blocks.toSpliced(from, 1).toSpliced(to, 0, block))
  }
  return (
    <div className="flex flex-col gap-2">
      <ol className="flex flex-col gap-2">
        {blocks.map((block, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: blocks are known by their place
          <li key={index} className="rounded-md border border-line">
            <div className="flex items-center gap-1 border-b border-line bg-bg-2 px-2 py-0.5">
              <span className="flex-1 text-xs font-medium text-ink-2">{blockNames[block.type]}</span>
              {'align' in block && (
                <select
                  aria-label={`Alignment of the ${blockNames[block.type].toLowerCase()}`}
                  value={block.align}
                  onChange={(event) => onChange(blocks.with(index, { ...block, align: event.target.value as Align }))}
                  className="h-7 rounded bg-transparent text-xs text-ink-2"
                >
                  <option value="left">Left</option>
                  <option value="center">Centre</option>
                  <option value="right">Right</option>
                </select>
              )}
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
            <BlockForm block={block} onChange={(next) => onChange(blocks.with(index, next))} />
          </li>
        ))}
      </ol>
      <div>
        <Menu
          label="Blocks"
          button={<Button icon="plus">{isInner ? 'Block inside' : 'Add a block'}</Button>}
          items={(isInner ? inner : outer).map((type) => ({
            text: blockNames[type],
            onSelect: () => onChange([...blocks, newBlock(type)]),
          }))}
        />
      </div>
    </div>
  )
}

function BlockForm({ block, onChange }: { block: Block; onChange: (block: Block) => void }) {
  const variables = useVariables()
  const template = (label: string, value: string, onText: (text: string) => void, rows = 1) => (
    <TemplateField isLabelHidden label={label} value={value} rows={rows} variables={variables} onText={onText} />
  )
  switch (block.type) {
    case 'divider':
      return <hr className="m-4 border-line" />
    case 'heading':
      return (
        <div className="p-2">
          {template('Heading of the e-mail', block.content, (content) => onChange({ ...block, content }))}
        </div>
      )
    case 'text':
      return (
        <div className="p-2">
          {template('Text of the block', block.content, (content) => onChange({ ...block, content }), 3)}
        </div>
      )
    case 'button':
      return (
        <div className="flex flex-col gap-2 p-2">
          {template('Label of the button', block.content, (content) => onChange({ ...block, content }))}
          {template('Address of the button', block.url, (url) => onChange({ ...block, url }))}
        </div>
      )
    case 'image':
      return (
        <div className="flex flex-col gap-2 p-2">
          {template('Address of the image', block.url, (url) => onChange({ ...block, url }))}
          {template('What the image shows, in words', block.content, (content) => onChange({ ...block, content }))}
        </div>
      )
    case 'columns':
      return (
        <div className="grid gap-2 p-2 2xl:grid-cols-2">
          {block.columns.map((column, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: columns are known by their place
            <section key={place} aria-label={`Column ${place + 1}`} className="rounded-md bg-bg-2 p-2">
              <BlockList
                isInner
                blocks={column}
                onChange={(next) => onChange({ ...block, columns: block.columns.with(place, next) })}
              />
            </section>
          ))}
        </div>
      )
    case 'loop':
      return (
        <div className="flex flex-col gap-2 p-2">
          <div className="flex flex-wrap items-center gap-2 text-ink-2">
            For each
            <Word
              label="Name of one"
              value={block.item}
              onText={(item) => onChange({ ...block, item: item.replaceAll(/\s/g, '') })}
            />
            in
            <Word label="List" value={block.list} onText={(list) => onChange({ ...block, list })} />
          </div>
          <BlockList isInner blocks={block.blocks} onChange={(blocks) => onChange({ ...block, blocks })} />
        </div>
      )
    case 'condition':
      return (
        <div className="flex flex-col gap-2 p-2">
          <div className="flex items-center gap-2 text-ink-2">
            Only if
            <Word label="Condition" value={block.test} onText={(test) => onChange({ ...block, test })} />
          </div>
          <BlockList isInner blocks={block.blocks} onChange={(blocks) => onChange({ ...block, blocks })} />
        </div>
      )
  }
}

function Word({ label, value, onText }: { label: string; value: string; onText: (text: string) => void }) {
  return (
    <input
      aria-label={label}
      value={value}
      onChange={(event) => onText(event.target.value)}
      spellCheck={false}
      className="field w-auto! min-w-24 flex-1 font-mono text-xs"
    />
  )
}
