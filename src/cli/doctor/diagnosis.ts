// A diagnosis: independent checks, each with its own time limit, what each found, and what to do about it.

/** `skipped`: it could not be checked, and the message says why. */
export type CheckStatus = 'ok' | 'warning' | 'failed' | 'skipped'

export interface Finding {
  readonly status: CheckStatus
  readonly message: string
  /** What to do. */
  readonly advice?: string
  readonly data?: Readonly<Record<string, unknown>>
}

export interface Check<Context> {
  readonly name: string
  run(context: Context): Promise<Finding> | Finding
}

export interface Checked extends Finding {
  readonly name: string
}

/** What a check needs is not there. */
export class CannotCheck extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CannotCheck'
  }
}

/** As with a key, if none was given. */
export class NoKey extends CannotCheck {
  constructor() {
    super('No API key is set.')
    this.name = 'NoKey'
  }
}

/** The key is that of another environment than the one that is meant: what it reads would mislead. */
export class OtherEnvironment extends Error {
  constructor(name: string, wanted: string) {
    super(`The API key opens ${name}, not ${wanted}.`)
    this.name = 'OtherEnvironment'
  }
}

export const ok = (message: string, data?: Finding['data']): Finding => found('ok', message, undefined, data)
export const warning = (message: string, advice: string, data?: Finding['data']): Finding =>
  found('warning', message, advice, data)
export const failed = (message: string, advice: string, data?: Finding['data']): Finding =>
  found('failed', message, advice, data)

function found(status: CheckStatus, message: string, advice?: string, data?: Finding['data']): Finding {
  return { status, message, ...(advice === undefined ? {} : { advice }), ...(data === undefined ? {} : { data }) }
}

/** All at once, reported in their order. One that throws or takes too long does not keep the others from reporting. */
export function runChecks<Context>(
  checks: readonly Check<Context>[],
  context: Context,
  timeoutMs: number,
): Promise<Checked[]> {
  return Promise.all(
    checks.map(async ({ name, run }) => ({ name, ...(await within(timeoutMs, async () => run(context))) })),
  )
}

async function within(timeoutMs: number, run: () => Promise<Finding>): Promise<Finding> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Finding>((resolve) => {
    const fail = (): void =>
      resolve(failed(`It took longer than ${timeoutMs / 1000} s`, 'Try again when the service is less busy.'))
    timer = setTimeout(fail, timeoutMs)
  })
  try {
    return await Promise.race([run().catch(brokenFinding), late])
  } finally {
    clearTimeout(timer)
  }
}

function brokenFinding(error: unknown): Finding {
  const message = error instanceof Error ? error.message : String(error)
  return error instanceof CannotCheck ? found('skipped', message) : found('failed', message)
}

/** The worst of all. */
export function worstOf(checked: readonly Checked[]): 'ok' | 'warning' | 'failed' {
  if (checked.some(({ status }) => status === 'failed')) return 'failed'
  return checked.some(({ status }) => status === 'warning') ? 'warning' : 'ok'
}
