// Where the pages of an environment stand: its name as addresses take it, unique among the environments one is signed in to.

interface Named {
  readonly _id: string
  readonly name: string
}
interface Opened {
  readonly environment: Named
}

const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '') || 'environment'

/** Ids start with the time at which they were made, so that only their ends differ for sure. */
const idPartLength = 8
const longSlugOf = ({ _id, name }: Named): string => `${slugOf(name)}-${_id.slice(-idPartLength).toLowerCase()}`

/** development, production; with a part of the id where another environment would have the same: qa-1-0a1b2c3d. */
export function addressOf(environment: Named, sessions: readonly Opened[]): string {
  const slug = slugOf(environment.name)
  const isShared = sessions.some(
    ({ environment: other }) => other._id !== environment._id && slugOf(other.name) === slug,
  )
  return isShared ? longSlugOf(environment) : slug
}

/** Whose address it is, with or without the part of the id: none, one, or all that a plain name may mean. */
export function sessionsAt<Session extends Opened>(address: string, sessions: readonly Session[]): readonly Session[] {
  const exact = sessions.filter(({ environment }) => longSlugOf(environment) === address)
  return exact.length > 0 ? exact : sessions.filter(({ environment }) => slugOf(environment.name) === address)
}
