// How bodies become values: read, scanned, parsed; and what no part of a request may contain.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Problem } from '../../domain/problem.ts'
import { Turn } from '../../domain/turn.ts'
import type { JudgedAs } from '../route.ts'
import { smallBodyBytes } from './body-budget.ts'
import type { ParseJson } from './body-parser.ts'
import { readJsonBody, readLargeJsonBody, refuseEncodedBody, refuseUnstorableText } from './body-parser.ts'
import { refuseUndecodable } from './query-parser.ts'
import { readBody } from './read-body.ts'

const jsonType = /^application\/([\w.-]+\+)?json(;|$)/
const formType = /^application\/x-www-form-urlencoded(;|$)/

export function installBodyParser(app: FastifyInstance): void {
  const parse = secureParser(app)
  app.decorateRequest('bodyShare', undefined)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(jsonType, (request, _payload, done) => {
    const { bodyLimit, config } = request.routeOptions
    const { judgesText } = config as { judgesText?: JudgedAs }
    readBody(request, bodyLimit, (error, bytes) => {
      if (error !== undefined || bytes === undefined)
        return done(error ?? new Error('A body arrived without its bytes'))
      try {
        refuseEncodedBody(request.headers['content-encoding'])
        if (bytes.length <= smallBodyBytes) done(null, readJsonBody(bytes, parse, judgesText !== undefined))
        else readLarge(request, bytes, { parse, judgesText }).then((body) => done(null, body), done)
      } catch (problem) {
        done(problem as Error)
      }
    })
  })
  // Some clients name a form where they send nothing.
  app.addContentTypeParser(formType, (request, _payload, done) => {
    const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers
    if (length === '0' && encoding === undefined) done(null, undefined)
    else done(new Problem(415, 'The body must be sent as application/json'))
  })
  app.addHook('preValidation', async (request) => {
    refuseUndecodable(request.query)
    refuseUnstorableText(request.params, '')
    refuseUnstorableText(request.query, '')
  })
}

/** Not further than its sender waits for it. */
async function readLarge(
  { bodyShare: share }: FastifyRequest,
  bytes: Buffer,
  rules: { parse: ParseJson; judgesText: JudgedAs | undefined },
): Promise<unknown> {
  if (share === undefined) return readLargeJsonBody(bytes, { ...rules, takeValues: async () => {}, turn: new Turn() })
  const turn = new Turn(undefined, () => share.throwIfOver())
  const takeValues = (values: number): Promise<void> => share.takeValues(values)
  return share.during(() => readLargeJsonBody(bytes, { ...rules, takeValues, turn }))
}

/** Refuses `__proto__` and `constructor.prototype`. */
function secureParser(app: FastifyInstance): ParseJson {
  const secureParse = app.getDefaultJsonParser('error', 'error')
  return (text) => {
    let result: unknown
    secureParse(undefined as never, text, (error, value) => {
      if (error !== null) throw error
      result = value
    })
    return result
  }
}
