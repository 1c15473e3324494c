// The texts of one locale as a file: taken out for translators, and put in again after what changes was shown.
import { useRef, useState } from 'react'
import { IconButton } from '../../ui/controls.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { saveAsFile } from '../../ui/download.ts'
import { Menu } from '../../ui/menu.tsx'
import { sayError } from '../../ui/toast.tsx'
import type { Texts } from './texts.ts'
import { textsOfFile } from './texts.ts'

const names = new Intl.DisplayNames('en', { type: 'language' })

/** As people call it; the tag itself where it has no name. */
export function nameOfLocale(locale: string): string {
  try {
    return names.of(locale.replace('_', '-')) ?? locale
  } catch {
    return locale
  }
}

export function LocaleMenu({
  locale,
  texts,
  mayChange,
  busy,
  error,
  onImport,
}: {
  locale: string
  texts: Texts
  mayChange: boolean
  busy: boolean
  error: Error | null
  onImport: (texts: Texts, done: () => void) => void
}) {
  const input = useRef<HTMLInputElement>(null)
  const [read, setRead] = useState<Texts>()
  const choose = async (file: File | undefined) => {
    if (file === undefined) return
    try {
      setRead(textsOfFile(file.name, await file.text()))
    } catch (fault) {
      sayError(fault as Error)
    }
  }
  const name = nameOfLocale(locale)
  return (
    <>
      <Menu
        label={`Texts in ${name}`}
        button={<IconButton name="more" label={`Texts in ${name}`} className="size-6!" />}
        items={[
          {
            text: 'Export',
            icon: 'file',
            hint: 'As a JSON file',
            onSelect: () =>
              saveAsFile(`${locale}.json`, 'application/json', `${JSON.stringify(texts, undefined, 2)}\n`),
          },
          ...(mayChange
            ? [{ text: 'Import', hint: 'Replaces all texts', onSelect: () => input.current?.click() }]
            : []),
        ]}
      />
      <input
        ref={input}
        type="file"
        accept="application/json,.json"
        aria-label={`File with texts in ${name}`}
        className="hidden"
        onChange={(event) => {
          void choose(event.target.files?.[0])
          event.target.value = ''
        }}
      />
      {read !== undefined && (
        <FormDialog
          title={`Import ${name}`}
          action="Import"
          busy={busy}
          error={error}
          onSubmit={() => onImport(read, () => setRead(undefined))}
          onClose={() => setRead(undefined)}
        >
          <Changes before={texts} after={read} />
        </FormDialog>
      )}
    </>
  )
}

function Changes({ before, after }: { before: Texts; after: Texts }) {
  const added = Object.keys(after).filter((key) => !(key in before))
  const changed = Object.keys(after).filter((key) => key in before && before[key] !== after[key])
  const removed = Object.keys(before).filter((key) => !(key in after))
  const line = (words: string, keys: readonly string[]) => (
    <li>
      <strong className="font-semibold">{keys.length.toLocaleString('en')}</strong> {words}
      {keys.length > 0 && (
        <span className="block truncate font-mono text-xs text-ink-3" title={keys.join(', ')}>
          {keys.join(', ')}
        </span>
      )}
    </li>
  )
  return (
    <ul className="flex flex-col gap-2 text-ink-2">
      {line('new', added)}
      {line('changed', changed)}
      {line('removed, as the file does not have them', removed)}
    </ul>
  )
}
