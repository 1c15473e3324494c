// Environments: what is kept apart, such as Development and Production; creating, renaming and deleting them.
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { addressOf } from '../../addresses.ts'
import type { Schemas } from '../../api.ts'
import { answerOf, basePath, client, clientOf } from '../../api.ts'
import { useAsk, useChange } from '../../ask.ts'
import { colourOf, sessionsKey, signIn, useEnvironment, useMayChange, useSessions } from '../../session.tsx'
import { Button, IconButton, TextField, Toggle } from '../../ui/controls.tsx'
import { ConfirmByTyping, FormDialog, ShownOnce } from '../../ui/dialog.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Answered, Section } from '../../ui/page.tsx'
import { Badge } from '../../ui/status.tsx'
import { Time } from '../../ui/time.tsx'
import { sayError } from '../../ui/toast.tsx'
import { SettingsFrame } from './settings-frame.tsx'

type Environment = Schemas['Environment']
/** The service refuses to rename or delete them. */
const builtIn = ['Development', 'Production']
const dots = { red: 'bg-red', blue: 'bg-blue', violet: 'bg-violet' }

type Asked = { readonly what: 'create' } | { readonly what: 'rename' | 'delete'; readonly environment: Environment }

/** After environments came, went or changed their name: who is signed in to which is asked for again. */
function useForgetEnvironments() {
  const queries = useQueryClient()
  const { id } = useEnvironment()
  return async () => {
    await queries.invalidateQueries({ queryKey: sessionsKey })
    await queries.invalidateQueries({ queryKey: [id, 'environments'] })
  }
}

export function EnvironmentsPage() {
  const mayChange = useMayChange()
  const [asked, setAsked] = useState<Asked>()
  const list = useAsk(['environments'], () => answerOf(client.GET('/v1/environments')))
  const close = () => setAsked(undefined)
  return (
    <SettingsFrame
      title="Environments"
      lead="Each has its own workflows, people, accounts and keys. Nothing of one reaches another unless you promote it."
      actions={
        mayChange && (
          <Button look="primary" icon="plus" onClick={() => setAsked({ what: 'create' })}>
            New environment
          </Button>
        )
      }
    >
      <div className="card">
        <Answered of={list} rows={2}>
          {(all) => (
            <ul className="divide-y divide-line">
              {all.map((one) => (
                <Entry key={one._id} environment={one} onAsk={setAsked} />
              ))}
            </ul>
          )}
        </Answered>
      </div>
      <Answered of={list} rows={1}>
        {(all) => <Capture all={all} />}
      </Answered>
      {mayChange && <Deletions />}
      {asked?.what === 'create' && <NewEnvironment onClose={close} />}
      {asked?.what === 'rename' && <Rename environment={asked.environment} onClose={close} />}
      {asked?.what === 'delete' && <Delete environment={asked.environment} onClose={close} />}
    </SettingsFrame>
  )
}

function Entry({ environment, onAsk }: { environment: Environment; onAsk: (asked: Asked) => void }) {
  const { id } = useEnvironment()
  const navigate = useNavigate()
  const sessions = useSessions()
  const session = sessions.data?.find((one) => one.environment._id === environment._id)
  const mayChange = session?.scopes.includes('full') === true && !builtIn.includes(environment.name)
  const isHere = environment._id === id
  return (
    <li className="flex min-h-14 items-center gap-3 py-2 pr-2 pl-4">
      <span className={`size-2.5 shrink-0 rounded-full ${dots[colourOf(environment.name)]}`} />
      <span className="min-w-0 flex-1">
        <span className="flex flex-wrap items-center gap-2">
          <span className="truncate font-medium">{environment.name}</span>
          {isHere && <Badge tone="grey">You are here</Badge>}
          {environment.configurations.capture && (
            <Badge tone="violet" icon="outbox">
              Captures everything
            </Badge>
          )}
        </span>
        <span className="block text-xs text-ink-3">
          Since <Time at={environment.createdAt} />
          {builtIn.includes(environment.name) && ', always there'}
        </span>
      </span>
      {!isHere && (
        <Button
          look="quiet"
          onClick={() => {
            const to = `/${addressOf(environment, sessions.data ?? [])}`
            void navigate(
              session === undefined ? { to: '/sign-in', search: { environment: environment.name, to } } : { to },
            )
          }}
        >
          {session === undefined ? 'Sign in' : 'Open'}
        </Button>
      )}
      {mayChange && (
        <Menu
          label={`What to do with ${environment.name}`}
          button={<IconButton name="more" label={`What to do with ${environment.name}`} />}
          items={[
            { text: 'Rename', onSelect: () => onAsk({ what: 'rename', environment }) },
            { text: 'Delete', icon: 'trash', danger: true, onSelect: () => onAsk({ what: 'delete', environment }) },
          ]}
        />
      )}
    </li>
  )
}

/** Nothing leaves an environment that captures. */
function Capture({ all }: { all: readonly Environment[] }) {
  const { id, name } = useEnvironment()
  const mayChange = useMayChange()
  const isOn = all.find(({ _id }) => _id === id)?.configurations.capture === true
  const change = useChange(
    (capture: boolean) => answerOf(client.PATCH('/v1/environments/me', { body: { configurations: { capture } } })),
    {
      touches: ['environments'],
      says: (_data, capture) => (capture ? 'Messages are captured from now on' : 'Messages are sent from now on'),
    },
  )
  return (
    <Section title={`Sending from ${name}`}>
      <div className="p-4">
        <Toggle
          label="Capture every message instead of sending it"
          hint="E-mail, SMS, push and chat go to the outbox, whichever account they would go out by. In-app messages still appear."
          checked={isOn}
          disabled={!mayChange || change.isPending}
          onChange={(on) => change.mutate(on)}
        />
      </div>
    </Section>
  )
}

const deletionsRefreshMs = 5_000

/** Erasing takes its time; what is under way is shown until it is done. */
function Deletions() {
  const list = useAsk(['environments', 'deletions'], () => answerOf(client.GET('/v1/environments/deletions')), {
    everyMs: deletionsRefreshMs,
  })
  if (list.data === undefined || list.data.length === 0) return null
  return (
    <Section title="Deleted">
      <ul className="divide-y divide-line">
        {list.data.map((one) => {
          const rows = Object.values(one.removed).reduce((sum, count) => sum + count, 0)
          return (
            <li key={one.environmentId} className="flex items-center gap-3 px-4 py-2.5">
              <span className="min-w-0 flex-1">
                <span className="block truncate font-medium">{one.name}</span>
                <span className="block text-xs text-ink-3">
                  <Time at={one.requestedAt} />, {rows.toLocaleString('en')} records erased
                </span>
              </span>
              {one.status === 'completed' ? (
                <Badge tone="grey" icon="check">
                  Erased
                </Badge>
              ) : (
                <Badge tone="blue" icon="clock">
                  Erasing
                </Badge>
              )}
            </li>
          )
        })}
      </ul>
    </Section>
  )
}

function NewEnvironment({ onClose }: { onClose: () => void }) {
  const { session } = useEnvironment()
  const [name, setName] = useState('')
  const forget = useForgetEnvironments()
  const create = useChange(() => answerOf(client.POST('/v1/environments', { body: { name: name.trim() } })), {
    touches: ['environments'],
    quiet: true,
    onDone: async (made) => {
      // Whoever made it can open it: its first key signs in here as well. Users sign in as themselves.
      const [first] = made.apiKeys
      if (first !== undefined && session.user === undefined) await signIn({ apiKey: first.key }).catch(sayError)
      await forget()
    },
  })
  if (create.data !== undefined) {
    return (
      <ShownOnce what="first key" secret={create.data.apiKeys[0]?.key ?? ''} onClose={onClose}>
        It opens {create.data.name} and may do everything there. E-mail and SMS are captured until you add an account.
      </ShownOnce>
    )
  }
  return (
    <FormDialog
      title="New environment"
      action="Create"
      busy={create.isPending}
      disabled={name.trim() === ''}
      error={create.error}
      onSubmit={() => create.mutate(undefined)}
      onClose={onClose}
    >
      <TextField label="Name" placeholder="Staging" value={name} maxLength={100} onText={setName} />
    </FormDialog>
  )
}

function Rename({ environment, onClose }: { environment: Environment; onClose: () => void }) {
  const { id } = useEnvironment()
  const sessions = useSessions()
  const forget = useForgetEnvironments()
  const [name, setName] = useState(environment.name)
  const rename = useChange(
    () =>
      answerOf(
        clientOf(environment._id).PUT('/v1/environments/{environmentId}', {
          params: { path: { environmentId: environment._id } },
          body: { name: name.trim() },
        }),
      ),
    {
      says: `It is called ${name.trim()} now`,
      quiet: true,
      onDone: async (made) => {
        // The name is part of every address: the page is loaded again at its new one.
        if (environment._id === id) {
          const address = addressOf({ ...environment, name: made.name }, sessions.data ?? [])
          return location.replace(`${basePath}${address}/settings/environments`)
        }
        onClose()
        await forget()
      },
    },
  )
  return (
    <FormDialog
      title={`Rename ${environment.name}`}
      action="Rename"
      busy={rename.isPending}
      disabled={name.trim() === '' || name.trim() === environment.name}
      error={rename.error}
      onSubmit={() => rename.mutate(undefined)}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="Addresses of its pages change with it; keys and integrations stay."
        value={name}
        maxLength={100}
        onText={setName}
      />
    </FormDialog>
  )
}

function Delete({ environment, onClose }: { environment: Environment; onClose: () => void }) {
  const { id } = useEnvironment()
  const forget = useForgetEnvironments()
  const remove = useChange(
    () =>
      answerOf(
        clientOf(environment._id).DELETE('/v1/environments/{environmentId}', {
          params: { path: { environmentId: environment._id }, query: { confirm: environment.name } },
        }),
      ),
    {
      says: `${environment.name} is deleted`,
      leaves: true,
      onDone: async () => {
        if (environment._id === id) return location.replace(basePath)
        onClose()
        await forget()
      },
    },
  )
  return (
    <ConfirmByTyping
      title="Delete the environment"
      word={environment.name}
      action="Delete"
      busy={remove.isPending}
      onConfirm={() => remove.mutate(undefined)}
      onClose={onClose}
    >
      Its keys stop at once and nothing more is sent. Its workflows, people and messages are erased in the background;
      only its audit log is kept. This cannot be undone.
    </ConfirmByTyping>
  )
}
