// The layouts, translations and variables of an environment, cached until their stamp changes: read only if a batch needs them.
import type { Sql } from '../../db/sql.ts'
import { BoundedMap } from '../../domain/bounded-map.ts'
import type { Job } from '../../domain/delivery/job.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Sealer } from '../../domain/operate/sealed.ts'
import type { Variables } from '../../domain/workflows/environment-variable.ts'
import { usesVariables, variablesOf } from '../../domain/workflows/environment-variable.ts'
import { emailLayoutsOf, layoutLengthMax, layoutsMax } from '../../domain/workflows/layout.ts'
import type { EmailLayouts } from '../../domain/workflows/rendering.ts'
import type { Translations } from '../../domain/workflows/translation.ts'
import { flatTexts, textsLengthMax, translationsOf, usesTranslations } from '../../domain/workflows/translation.ts'
import type { WorkflowVersion } from '../../domain/workflows/workflow.ts'
import type { ConfigurationStamps } from '../../store/operate/configuration-stamps.ts'
import { listVariables } from '../../store/operate/environment-variables.ts'
import { listLayouts } from '../../store/workflows/layouts.ts'
import { listTranslations } from '../../store/workflows/translations.ts'

export interface Wording {
  readonly layouts: EmailLayouts | undefined
  readonly translations: Translations | undefined
  readonly variables: Variables | undefined
}

export interface Wordings {
  /** What the e-mail steps and the translated templates of a batch need; nothing is read if there are none. */
  for(
    db: Sql,
    environment: Environment,
    jobs: readonly Job[],
    versions: ReadonlyMap<string, WorkflowVersion>,
    stamps: ConfigurationStamps,
  ): Promise<Wording>
}

const nothing: Wording = { layouts: undefined, translations: undefined, variables: undefined }

export function createWordings(sealer: Sealer): Wordings {
  const layouts = createCache(readLayouts)
  const translations = createCache(readTranslations)
  const variables = createCache((db, environment) => readVariables(db, sealer, environment))
  return {
    for: async (db, environment, jobs, versions, stamps) => {
      const needed = needsOf(jobs, versions)
      if (!needed.layouts && !needed.translations && !needed.variables) return nothing
      const [found, own] = await Promise.all([
        needed.layouts ? layouts(db, environment, stamps.layouts) : undefined,
        needed.translations ? translations(db, environment, stamps.translations) : undefined,
      ])
      // A layout may speak several languages where the workflow does not.
      const texts =
        own ?? (found?.isTranslated === true ? await translations(db, environment, stamps.translations) : undefined)
      const printed = needed.variables || found?.usesVariables === true
      // Where there were never any, there is no stamp.
      const values = printed && stamps.variables !== '' ? await variables(db, environment, stamps.variables) : undefined
      return { layouts: found, translations: texts, variables: values }
    },
  }
}

function needsOf(
  jobs: readonly Job[],
  versions: ReadonlyMap<string, WorkflowVersion>,
): { layouts: boolean; translations: boolean; variables: boolean } {
  const needed = { layouts: false, translations: false, variables: false }
  for (const job of jobs) {
    const version = versions.get(job.versionId)
    if (version === undefined) continue
    // A job that is being sent was rendered before.
    if (job.status === 'running') continue
    needed.layouts ||= version.definition.steps[job.step]?.template.type === 'email'
    const uses = usesOf(version)
    needed.translations ||= uses.translations
    needed.variables ||= uses.variables
    if (needed.layouts && needed.translations && needed.variables) break
  }
  return needed
}

interface Uses {
  readonly translations: boolean
  readonly variables: boolean
}

const knownUses = new WeakMap<WorkflowVersion, Uses>()

function usesOf(version: WorkflowVersion): Uses {
  const known = knownUses.get(version)
  if (known !== undefined) return known
  const { isTranslationEnabled, steps } = version.definition
  const text = JSON.stringify(steps)
  const found = {
    translations: isTranslationEnabled === true || usesTranslations(text),
    variables: usesVariables(text),
  }
  knownUses.set(version, found)
  return found
}

interface Sized {
  /** What keeping it costs, in characters. */
  readonly length: number
}

interface KeptLayouts extends EmailLayouts, Sized {
  readonly isTranslated: boolean
  readonly usesVariables: boolean
}

/** All environments together: five that are as large as they may be. Usually it is next to nothing. */
const cachedLengthMax = 5 * Math.max(textsLengthMax, layoutsMax * layoutLengthMax)
const environmentsMax = 1_000

/** What was used longest ago is evicted; what is larger than the whole cache is read every time. */
export function createCache<Value extends Sized>(
  read: (db: Sql, environment: Environment) => Promise<Value>,
  lengthMax = cachedLengthMax,
): (db: Sql, environment: Environment, stamp: string) => Promise<Value> {
  const lengths = { max: lengthMax, of: ({ value }: { value: Value }) => value.length }
  const cached = new BoundedMap<string, { stamp: string; value: Value }>(environmentsMax, lengths)
  return async (db, environment, stamp) => {
    const known = cached.get(environment.id)
    const value = known?.stamp === stamp ? known.value : await read(db, environment)
    cached.set(environment.id, { stamp, value })
    return value
  }
}

async function readLayouts(db: Sql, environment: Environment): Promise<KeptLayouts> {
  const all = await listLayouts(db, environment, { offset: 0, limit: layoutsMax })
  return {
    ...emailLayoutsOf(all),
    isTranslated: all.some(({ content }) => usesTranslations(content)),
    usesVariables: all.some(({ content }) => usesVariables(content)),
    length: all.reduce((sum, { content }) => sum + content.length, 0),
  }
}

async function readTranslations(db: Sql, environment: Environment): Promise<Translations & Sized> {
  const rows = await listTranslations(db, environment)
  const locales = rows.map(({ locale, texts }) => ({ locale, texts: flatTexts(texts).texts }))
  const length = locales.reduce(
    (sum, { texts }) => [...texts].reduce((inner, [key, text]) => inner + key.length + text.length, sum),
    0,
  )
  return { ...translationsOf(locales), length }
}

async function readVariables(db: Sql, sealer: Sealer, environment: Environment): Promise<Variables & Sized> {
  const all = await listVariables(db, sealer, environment)
  return { ...variablesOf(all), length: all.reduce((sum, { key, value }) => sum + key.length + value.length, 0) }
}
