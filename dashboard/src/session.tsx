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
export const signOut = (): Promise<unknown> => answerOf(client.DELETE('/v1/dashboard/sessions', everySession))

export const useSessions = () => useQuery({ queryKey: sessionsKey, queryFn: loadSessions, staleTime: 60_000 })

/** As it stands in addresses: development, production. */
export const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '') || 'environment'

export interface Environment {
  readonly id: string
  readonly name: string
  readonly slug: string
  readonly session: Session
}

export const EnvironmentContext = createContext<Environment | undefined>(undefined)

export function useEnvironment(): Environment {
  const environment = useContext(EnvironmentContext)
  if (environment === undefined) throw new Error('Only pages of an environment have one')
  return environment
}

export const useMayChange = (): boolean => useEnvironment().session.scopes.includes('full')

/** Production is unmistakable; Development is calm. */
export const colourOf = (name: string): 'red' | 'blue' | 'violet' =>
  /prod|live/i.test(name) ? 'red' : /dev|local|test/i.test(name) ? 'blue' : 'violet'
