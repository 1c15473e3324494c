// Ctrl-K: pages, environments, and people, workflows and notifications by name or id.
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Command } from 'cmdk'
import { useEffect, useRef, useState } from 'react'
import { addressOf } from '../addresses.ts'
import { answerOf, client } from '../api.ts'
import type { EnvironmentInfo } from '../session.tsx'
import { useEnvironment, useSessions } from '../session.tsx'
import type { Theme } from '../theme.ts'
import { chooseTheme } from '../theme.ts'
import type { IconName } from '../ui/icons.tsx'
import { Icon } from '../ui/icons.tsx'
import { places } from './navigation.tsx'

const foundMax = 6
/** Transaction ids hold a digit or a dash; names of people mostly do not. */
const isId = /^(?=.*[\d-])\S{8,}$/

/**
 * Each word that was typed is in it; where one of its own words begins so, it comes first. Letters that are only somewhere in it would
 * find pages that no one meant, and Enter would lead there.
 */
function fit(value: string, typed: string): number {
  const text = value.toLowerCase()
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
  if (!words.every((word) => text.includes(word))) return 0
  return words.every((word) => ` ${text}`.includes(` ${word}`)) ? 1 : 0.5
}

export function CommandPalette({
  environments,
  onClose,
}: {
  environments: readonly EnvironmentInfo[]
  onClose: () => void
}) {
  const element = useRef<HTMLDialogElement>(null)
  const [text, setText] = useState('')
  const navigate = useNavigate()
  const { slug, id } = useEnvironment()
  const sessions = useSessions()
  useEffect(() => {
    if (element.current?.open === false) element.current.showModal()
    element.current?.querySelector('input')?.focus()
  }, [])
  const go = (to: string, search: Record<string, string> = {}) => {
    onClose()
    void navigate({ to, search })
  }
  const show = (theme: Theme) => {
    chooseTheme(theme)
    onClose()
  }
  const wanted = text.trim()
  const workflows = useQuery({
    queryKey: [id, 'palette', 'workflows', wanted],
    queryFn: () =>
      answerOf(
        client.GET('/v1/workflows', {
          params: { query: { limit: foundMax, ...(wanted === '' ? {} : { query: wanted }) } },
        }),
      ),
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  })
  const people = useQuery({
    queryKey: [id, 'palette', 'people', wanted],
    enabled: wanted.length >= 2,
    queryFn: async () => {
      const ask = (query: Record<string, string>) =>
        answerOf(client.GET('/v2/subscribers', { params: { query: { limit: foundMax, ...query } } }))
      const [byId, byName] = await Promise.all([
        ask(wanted.includes('@') ? { email: wanted } : { subscriberId: wanted }),
        ask({ name: wanted }),
      ])
      return [...new Map([...byId.data, ...byName.data].map((one) => [one.subscriberId, one])).values()].slice(
        0,
        foundMax,
      )
    },
  })
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click beside it closes it, as Escape does
    <dialog
      ref={element}
      aria-label="Search and commands"
      onClose={onClose}
      onClick={(event) => event.target === element.current && onClose()}
      className="card mt-[12vh] w-[calc(100vw-24px)] max-w-xl p-0 shadow-2xl"
    >
      <Command label="Search and commands" loop filter={fit}>
        <div className="flex items-center gap-2 border-b border-line px-3">
          <Icon name="search" className="text-ink-3" />
          <Command.Input
            autoFocus
            value={text}
            onValueChange={setText}
            placeholder="Go to a page, a person, a workflow, or paste a transaction id"
            className="h-12 flex-1 bg-transparent text-base outline-none placeholder:text-ink-3 sm:text-sm"
          />
        </div>
        <Command.List className="max-h-[50vh] overflow-y-auto p-1.5">
          <Command.Empty className="px-3 py-6 text-center text-ink-2">Nothing has this name.</Command.Empty>
          <Group heading="Pages">
            {places.flatMap((group) =>
              group.places.map(({ to, text: name, icon, words }) => (
                <Item key={to} icon={icon} value={`page ${name} ${words ?? ''}`} onSelect={() => go(`/${slug}${to}`)}>
                  {name}
                </Item>
              )),
            )}
          </Group>
          {people.data !== undefined && people.data.length > 0 && (
            <Group heading="People">
              {people.data.map((one) => (
                <Item
                  key={one.subscriberId}
                  icon="people"
                  value={`person ${one.subscriberId} ${one.firstName ?? ''} ${one.lastName ?? ''} ${one.email ?? ''} ${wanted}`}
                  onSelect={() => go(`/${slug}/subscribers/${encodeURIComponent(one.subscriberId)}`)}
                >
                  {[one.firstName, one.lastName].filter(Boolean).join(' ') || one.subscriberId}
                  <span className="ml-2 text-ink-3">{one.email ?? one.subscriberId}</span>
                </Item>
              ))}
            </Group>
          )}
          <Group heading="Workflows">
            {workflows.data?.data.map((one) => (
              <Item
                key={one._id}
                icon="workflow"
                value={`workflow ${one.name} ${one.triggers[0]?.identifier ?? ''}`}
                onSelect={() => go(`/${slug}/workflows/${one._id}`)}
              >
                {one.name}
              </Item>
            ))}
          </Group>
          <Group heading="Commands">
            {isId.test(wanted) && (
              <Item
                icon="activity"
                value={`find transaction ${wanted}`}
                onSelect={() => go(`/${slug}/activity`, { transactionId: wanted })}
              >
                Find the transaction {wanted}
              </Item>
            )}
            {environments
              .filter(({ _id }) => _id !== id && sessions.data?.some((one) => one.environment._id === _id))
              .map((one) => ({ ...one, address: addressOf(one, sessions.data ?? []) }))
              .map(({ name, address }) => (
                <Item
                  key={address}
                  icon="right"
                  value={`environment switch ${name} ${address}`}
                  onSelect={() => go(`/${address}`)}
                >
                  Switch to {name}
                </Item>
              ))}
            <Item icon="moon" value="theme dark" onSelect={() => show('dark')}>
              Dark theme
            </Item>
            <Item icon="sun" value="theme light" onSelect={() => show('light')}>
              Light theme
            </Item>
          </Group>
        </Command.List>
      </Command>
    </dialog>
  )
}

function Group({ heading, children }: { heading: string; children: React.ReactNode }) {
  return (
    <Command.Group
      heading={heading}
      className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:py-1.5 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-ink-3"
    >
      {children}
    </Command.Group>
  )
}

function Item({
  icon,
  value,
  onSelect,
  children,
}: {
  icon: IconName
  value: string
  onSelect: () => void
  children: React.ReactNode
}) {
  return (
    <Command.Item
      value={value}
      onSelect={onSelect}
      className="flex cursor-pointer items-center gap-2.5 rounded-md px-2 py-2 data-[selected=true]:bg-bg-3"
    >
      <Icon name={icon} className="text-ink-2" />
      <span className="min-w-0 flex-1 truncate">{children}</span>
    </Command.Item>
  )
}
