// The OpenAPI document of the running service: its operations, and a judge of each answer's body.
import type { ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formatsPlugin from 'ajv-formats'

// biome-ignore lint/suspicious/noExplicitAny: a schema is whatever the document says
export type Schema = any

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly schema: Schema
}

export type Access = 'key' | 'inbox' | 'open'

export interface Operation {
  readonly method: string
  readonly path: string
  readonly parameters: readonly Parameter[]
  /** Of its body, where it takes one. */
  readonly body: Schema
  readonly access: Access
  /** Whether its answer goes on until one of the two ends it. */
  readonly isStream: boolean
  /** Statuses that the document names. */
  readonly statuses: ReadonlySet<number>
  /** What is wrong with an answer's body; undefined when nothing is. */
  judge(status: number, contentType: string, text: string): string | undefined
}

export interface Document {
  readonly operations: readonly Operation[]
  resolve(schema: Schema): Schema
}

const methods = ['get', 'post', 'put', 'patch', 'delete']
/** Formats of the service's own: what they mean is the service's to say. */
const ownFormats = ['web-address', 'timezone', 'locale']

export function readDocument(text: string): Document {
  const document = JSON.parse(text)
  // As an instance of a schema would be checked: `example` and the like are annotations.
  const ajv = new Ajv2020({ strict: false, allErrors: false, validateSchema: false })
  formatsPlugin.default(ajv)
  for (const name of ownFormats) ajv.addFormat(name, true)
  ajv.addSchema({ $id: 'document', ...document })
  const resolve = (schema: Schema): Schema => {
    if (typeof schema?.$ref !== 'string') return schema
    const parts = schema.$ref.slice(2).split('/')
    return resolve(parts.reduce((place: Schema, part: string) => place[part], document))
  }
  const operations = Object.entries<Schema>(document.paths).flatMap(([path, item]) =>
    methods
      .filter((method) => item[method] !== undefined)
      .map((method) => operationOf(ajv, path, method, item[method])),
  )
  return { operations, resolve }
}

function operationOf(ajv: Ajv2020, path: string, method: string, operation: Schema): Operation {
  const validators = new Map<number, ValidateFunction>()
  const pointer = `document#/paths/${encodeURIComponent(path.replaceAll('~', '~0').replaceAll('/', '~1'))}/${method}`
  return {
    method: method.toUpperCase(),
    path,
    parameters: operation.parameters ?? [],
    body: operation.requestBody?.content?.['application/json']?.schema,
    access: accessOf(operation.security),
    isStream: operation.responses['200']?.content?.['text/event-stream'] !== undefined,
    statuses: new Set(Object.keys(operation.responses).map(Number)),
    judge: (status, contentType, text) => {
      const content = operation.responses[status]?.content
      if (content === undefined) return text === '' ? undefined : `a body where none is documented`
      const type = content[contentType] === undefined ? (contentType.split(';')[0] ?? '') : contentType
      if (content[type] === undefined) return `${type || 'no type'} where ${Object.keys(content)} is documented`
      if (type !== 'application/json') return undefined
      if (content[type].schema === undefined) return undefined
      let body: unknown
      try {
        body = JSON.parse(text)
      } catch {
        return 'a body that is not JSON'
      }
      const validate = validators.get(status) ?? compiled(ajv, `${pointer}/responses/${status}`)
      validators.set(status, validate)
      return validate(body) ? undefined : ajv.errorsText(validate.errors)
    },
  }
}

const compiled = (ajv: Ajv2020, response: string): ValidateFunction =>
  ajv.compile({ $ref: `${response}/content/application~1json/schema` })

function accessOf(security: readonly Record<string, unknown>[] | undefined): Access {
  if (security === undefined || security.some((scheme) => 'ApiKey' in scheme)) return 'key'
  return security.some((scheme) => 'InboxSession' in scheme) ? 'inbox' : 'open'
}
