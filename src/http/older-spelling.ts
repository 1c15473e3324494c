// A route at an older address, for clients that still call it there.
import type { Route } from './route.ts'

type Address = Pick<Route, 'path' | 'operationId'> & Partial<Pick<Route, 'method'>>

/** Does and answers the same as the route of that operation. */
export function olderSpelling(routes: readonly Route[], operationId: string, older: Address): Route {
  const route = routes.find((one) => one.operationId === operationId)
  if (route === undefined) throw new Error(`There is no operation ${operationId}`)
  const description = `The older address of \`${route.method} ${route.path}\`.`
  return { ...route, ...older, summary: `${route.summary} (older address)`, description }
}
