// Who is signed in to which environment, and the environment of the page.
import { useQuery } from '@tanstack/react-query'
import { createContext, useContext } from 'react'
import type { Schemas } from './api.ts'
import { answerOf, client } from './api.ts'

export type Session = Schemas['DashboardSession']
export type EnvironmentInfo = Schemas['Environment']

export const sessionsKey = ['sessions']

const everySession = { headers: { 'x-posthorn-dashboard': '*' } }

export const loadSessions = (): Promise<Session[]> => answerOf(client.GET('/v1/dashboard/sessions', everySession))
export const signIn = (body: Schemas['OpenDashboardSession']): Promise<Session> =>
  answerOf(client.POST('/v1/dashboard/sessions', { body, ...everySession }))
export const loadSignInWays = () => answerOf(client.GET('/v1/dashboard/sign-in'))
export const ownerOfLink = (link: string) =>
  answerOf(client.POST('/v1/dashboard/password/link', { body: { link }, ...everySession }))
export const setPassword = (body: Schemas['SetPassword']): Promise<Session> =>
  answerOf(client.POST('/v1/dashboard/password', { body, ...everySession }))
export const signOut = (): Promise<unknown> => answerOf(client.DELETE('/v1/dashboard/sessions', everySession))

export const useSessions = () => useQuery({ queryKey: sessionsKey, queryFn: loadSessions, staleTime: 60_000 })

export interface Environment {
  readonly id: string
  readonly name: string
  /** As it stands in addresses. */
  readonly slug: string
  readonly session: Session
}

export const EnvironmentContext = createContext<Environment | undefined>(undefined)

export function useEnvironment(): Environment {
  const environment = useContext(EnvironmentContext)
  if (environment === undefined) throw new Error('Only pages of an environment have one')
  return environment
}

export type Scope = Session['scopes'][number]

/** Whether the session may change things of a kind: what is not offered is not refused. */
export function useMayChange(scope: Scope = 'full'): boolean {
  const { scopes } = useEnvironment().session
  return scopes.includes('full') || scopes.includes(scope)
}

export const roleWords: Readonly<Record<NonNullable<Session['user']>['role'], string>> = {
  owner: 'Owner',
  editor: 'Editor',
  viewer: 'Viewer',
}

/** Production is unmistakable; Development is calm. */
export const colourOf = (name: string): 'red' | 'blue' | 'violet' =>
  /prod|live/i.test(name) ? 'red' : /dev|local|test/i.test(name) ? 'blue' : 'violet'
