// Variables of an environment: values that its templates print, which differ from one environment to the next.

/** As templates can name it. */
export const variableKeyPattern = '^[A-Za-z_][A-Za-z0-9_]{0,99}$'
export const variableValueLengthMax = 5_000
/** Every node caches them. */
export const variablesMax = 100

export interface EnvironmentVariable {
  readonly _id: string
  readonly key: string
  readonly isSecret: boolean
  readonly value: string
  readonly createdAt: string
  readonly updatedAt: string
}

/** Where a template's scope holds the secret ones: a symbol, so that no template can print them. */
export const secretVariables: unique symbol = Symbol('secret variables')

export interface Variables {
  /** By key, as `env` in templates. */
  readonly open: Readonly<Record<string, string>>
  /** Only for the headers of requests to the customer's own services. */
  readonly secret: Readonly<Record<string, string>>
}

export function variablesOf(all: readonly EnvironmentVariable[]): Variables {
  const those = (isSecret: boolean) =>
    Object.fromEntries(all.filter((one) => one.isSecret === isSecret).map(({ key, value }) => [key, value]))
  return { open: those(false), secret: those(true) }
}

/** Whether a text may name a variable: rather once too often than not. */
export const usesVariables = (text: string): boolean => /\benv\s*[.[]/.test(text)

/** Members of a scope with these variables. A field of the payload that is called `env` as well fills up what is missing. */
export function scopeWithVariables(
  { open, secret }: Variables,
  payload: Readonly<Record<string, unknown>>,
): { env: Readonly<Record<string, unknown>>; [secretVariables]: Readonly<Record<string, string>> } {
  const own = payload['env']
  const rest = typeof own === 'object' && own !== null && !Array.isArray(own) ? own : {}
  return { env: { ...rest, ...open }, [secretVariables]: secret }
}
