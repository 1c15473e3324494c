// Translations: a table of texts by key and locale, with what is missing marked.
import { useState } from 'react'
import { answerOf, client } from '../../api.ts'
import { useAsk, useChange } from '../../ask.ts'
import { useMayChange } from '../../session.tsx'
import { Button, TextArea, TextField } from '../../ui/controls.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Answered, Empty, Fault, Page } from '../../ui/page.tsx'
import { Badge } from '../../ui/status.tsx'
import { LocaleMenu, nameOfLocale } from './locale-menu.tsx'
import type { Texts } from './texts.ts'
import { flat } from './texts.ts'

export function TranslationsPage() {
  const mayChange = useMayChange('workflows:write')
  const [editing, setEditing] = useState<{ key: string; isNew: boolean }>()
  const [adding, setAdding] = useState(false)
  const all = useAsk(['translations'], async () => {
    const locales = (await answerOf(client.GET('/v1/translations'))).map(({ locale }) => locale)
    const found = await Promise.all(
      locales.map((locale) => answerOf(client.GET('/v1/translations/{locale}', { params: { path: { locale } } }))),
    )
    return new Map(found.map(({ locale, texts }) => [locale, flat(texts)]))
  })
  const save = useChange(
    (changes: ReadonlyMap<string, Texts>) =>
      Promise.all(
        [...changes].map(([locale, texts]) =>
          answerOf(client.PUT('/v1/translations/{locale}', { params: { path: { locale } }, body: { texts } })),
        ),
      ),
    {
      touches: ['translations'],
      says: 'The texts are saved',
      quiet: true,
      onDone: () => {
        setEditing(undefined)
        setAdding(false)
      },
    },
  )
  // What one dialog was refused is no news of the next; and some locales may have been saved before one was refused.
  const open = (show: () => void) => {
    save.reset()
    show()
  }
  const put = (changes: ReadonlyMap<string, Texts>, done?: () => void) =>
    save.mutate(changes, { onError: () => void all.refetch(), ...(done === undefined ? {} : { onSuccess: done }) })
  const actions = mayChange && (
    <>
      <Button icon="plus" onClick={() => open(() => setAdding(true))}>
        New locale
      </Button>
      {all.data !== undefined && all.data.size > 0 && (
        <Button look="primary" icon="plus" onClick={() => open(() => setEditing({ key: '', isNew: true }))}>
          New text
        </Button>
      )}
    </>
  )
  return (
    <Page
      title="Translations"
      count={all.data === undefined ? undefined : `${all.data.size} ${all.data.size === 1 ? 'locale' : 'locales'}`}
      lead={
        <>
          Texts by locale: a template says <code className="font-mono text-xs">{"{{ 'order.shipped' | t }}"}</code>, and
          each person reads their language.
        </>
      }
      actions={actions}
    >
      <Answered of={all}>
        {(byLocale) => {
          const locales = [...byLocale.keys()].sort()
          const keys = [...new Set([...byLocale.values()].flatMap(Object.keys))].filter((key) => key !== '').sort()
          return (
            <>
              <div className="card overflow-x-auto">
                {locales.length === 0 ? (
                  <Empty
                    icon="language"
                    title="There are no translations yet"
                    action={
                      mayChange ? (
                        <Button look="primary" onClick={() => open(() => setAdding(true))}>
                          New locale
                        </Button>
                      ) : undefined
                    }
                  >
                    Begin with the language that your templates are written in.
                  </Empty>
                ) : (
                  <table className="w-full text-left" aria-label="Texts">
                    <thead>
                      <tr className="text-xs text-ink-3">
                        <th className="h-9 border-b border-line pl-4 font-medium">Key</th>
                        {locales.map((locale) => (
                          <th key={locale} className="border-b border-line px-3 font-medium whitespace-nowrap">
                            <span className="flex items-center gap-1">
                              {nameOfLocale(locale)} <span className="font-mono font-normal">{locale}</span>
                              <LocaleMenu
                                locale={locale}
                                texts={byLocale.get(locale) ?? {}}
                                mayChange={mayChange}
                                busy={save.isPending}
                                error={save.error}
                                onImport={(texts, done) => put(new Map([[locale, texts]]), done)}
                              />
                            </span>
                          </th>
                        ))}
                      </tr>
                    </thead>
                    <tbody>
                      {keys.map((key) => (
                        <tr key={key} className="out-of-sight border-b border-line last:border-0 hover:bg-bg-2">
                          <td className="min-w-36 py-2 pl-4 align-top">
                            {mayChange ? (
                              <button
                                type="button"
                                className="link font-mono text-xs"
                                onClick={() => open(() => setEditing({ key, isNew: false }))}
                              >
                                {key}
                              </button>
                            ) : (
                              <span className="font-mono text-xs">{key}</span>
                            )}
                          </td>
                          {locales.map((locale) => (
                            <td key={locale} dir="auto" className="min-w-40 px-3 py-2 text-start align-top">
                              {byLocale.get(locale)?.[key] ?? (
                                <Badge tone="amber" icon="warning">
                                  Missing
                                </Badge>
                              )}
                            </td>
                          ))}
                        </tr>
                      ))}
                    </tbody>
                  </table>
                )}
                {locales.length > 0 && keys.length === 0 && <Empty icon="language" title="No texts yet" />}
              </div>
              {editing !== undefined && (
                <TextDialog
                  editing={editing}
                  byLocale={byLocale}
                  busy={save.isPending}
                  error={save.error}
                  onClose={() => setEditing(undefined)}
                  onSave={(changes) => put(changes)}
                />
              )}
              {adding && (
                <LocaleDialog
                  known={locales}
                  busy={save.isPending}
                  error={save.error}
                  onClose={() => setAdding(false)}
                  onAdd={(locale) => put(new Map([[locale, {}]]))}
                />
              )}
            </>
          )
        }}
      </Answered>
    </Page>
  )
}

function TextDialog({
  editing,
  byLocale,
  busy,
  error,
  onClose,
  onSave,
}: {
  editing: { key: string; isNew: boolean }
  byLocale: ReadonlyMap<string, Texts>
  busy: boolean
  error: Error | null
  onClose: () => void
  onSave: (changes: ReadonlyMap<string, Texts>) => void
}) {
  const [key, setKey] = useState(editing.key)
  const [texts, setTexts] = useState<Texts>(
    Object.fromEntries([...byLocale].map(([locale, all]) => [locale, all[editing.key] ?? ''])),
  )
  const save = () =>
    onSave(
      new Map(
        [...byLocale].flatMap(([locale, all]) => {
          const text = texts[locale] ?? ''
          if (text === (all[editing.key] ?? '') && !editing.isNew) return []
          const { [editing.key]: _before, ...rest } = all
          return [[locale, text === '' ? rest : { ...rest, [key.trim()]: text }] as const]
        }),
      ),
    )
  return (
    <Dialog
      title={editing.isNew ? 'New text' : editing.key}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Discard</Button>
          <Button look="primary" busy={busy} disabled={key.trim() === ''} onClick={save}>
            Save
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        <Fault error={error} />
        {editing.isNew && (
          <TextField label="Key" hint="Such as order.shipped" value={key} maxLength={255} autoFocus onText={setKey} />
        )}
        {[...byLocale.keys()].sort().map((locale) => (
          <TextArea
            key={locale}
            label={locale}
            rows={Math.min(8, (texts[locale] ?? '').split('\n').length)}
            value={texts[locale] ?? ''}
            onText={(text) => setTexts({ ...texts, [locale]: text })}
          />
        ))}
      </div>
    </Dialog>
  )
}

/** The service knows de-DE and de_DE as one. */
const sameLocale = (one: string, other: string): boolean =>
  one.replaceAll('_', '-').toLowerCase() === other.replaceAll('_', '-').toLowerCase()

function LocaleDialog({
  known,
  busy,
  error,
  onClose,
  onAdd,
}: {
  /** Adding one of them would empty it. */
  known: readonly string[]
  busy: boolean
  error: Error | null
  onClose: () => void
  onAdd: (locale: string) => void
}) {
  const [locale, setLocale] = useState('')
  const isThere = known.some((one) => sameLocale(one, locale.trim()))
  return (
    <Dialog
      title="New locale"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Discard</Button>
          <Button
            look="primary"
            busy={busy}
            disabled={locale.trim() === '' || isThere}
            onClick={() => onAdd(locale.trim())}
          >
            Add
          </Button>
        </>
      }
    >
      <Fault error={error} />
      <TextField
        label="Locale"
        hint="A language, and a country where it matters: de, pt-BR."
        error={isThere ? 'It is there already, with its texts.' : undefined}
        value={locale}
        maxLength={35}
        autoFocus
        onText={setLocale}
      />
    </Dialog>
  )
}
