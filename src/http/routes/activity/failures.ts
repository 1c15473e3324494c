// What failed and was not sent again: GET /v1/failures, and the same by cause.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { runnableStepTypes } from '../../../domain/workflows/workflow.ts'
import { failedGroups, failedStepsPage, failuresLookedAtMax } from '../../../read/counts/failed-steps.ts'
import { unsentGroups } from '../../../read/messages/unsent-causes.ts'
import { route } from '../../route.ts'
import { literals, offsetPage, offsetParameters, optionalTimestamp, pageLimitMax, timestamp } from '../../schemas.ts'

/** More values of one filter make a query that no address can hold. */
const filterValuesMax = 100
const visibleText = { maxLength: 255, pattern: '^\\P{Cc}*$' }
const some = (description: string) =>
  Type.Optional(Type.Array(Type.String(visibleText), { maxItems: filterValuesMax, description }))

const time = {
  after: optionalTimestamp('Failed at or after this ISO 8601 date or date-time; UTC if it has no zone.'),
  before: optionalTimestamp('Failed at or before this ISO 8601 date or date-time; UTC if it has no zone.'),
}
const cause = {
  channel: Type.String({ description: 'The type of the step.' }),
  provider: Type.String({ description: 'The provider that the step failed at; `none` if it was none.' }),
  code: Type.String({
    description: 'The code of the execution detail that says what went wrong; `unknown` if none does.',
  }),
  detail: Type.String({ description: 'The same as a sentence.' }),
}
const failedStep = Type.Object(
  {
    _id: Type.String(),
    notificationId: Type.String(),
    transactionId: Type.Optional(Type.String()),
    failedAt: timestamp(),
    ...cause,
    redriven: Type.Optional(Type.Boolean({ description: 'True if the step was redriven since.' })),
    workflow: Type.Optional(
      Type.Object({ _id: Type.String(), name: Type.String() }, { title: 'WorkflowOfFailedStep' }),
    ),
    subscriber: Type.Optional(
      Type.Object(
        {
          subscriberId: Type.String(),
          firstName: Type.Optional(Type.String()),
          lastName: Type.Optional(Type.String()),
        },
        { title: 'SubscriberOfFailedStep' },
      ),
    ),
  },
  { title: 'FailedStep' },
)
const count = Type.Integer()
const failureCauses = Type.Object(
  {
    steps: Type.Object(
      {
        total: Type.Integer({ description: 'All failed steps that were read.' }),
        isCapped: Type.Boolean({
          description: 'True if there are as many as are read at the most; there may be more.',
        }),
        data: Type.Array(Type.Object({ ...cause, count }, { title: 'FailedStepCause' })),
      },
      { title: 'FailedStepCauses' },
    ),
    messages: Type.Object(
      {
        isCapped: Type.Boolean({
          description: 'True if there are as many as are read at the most; there may be more.',
        }),
        data: Type.Array(
          Type.Object(
            {
              channel: Type.String(),
              provider: Type.String({ description: '`none` if no provider was asked: there was no address.' }),
              errorId: Type.String({ description: 'Empty if the message has none.' }),
              detail: Type.String({ description: 'What it means, as a sentence.' }),
              count,
            },
            { title: 'UnsentMessageCause' },
          ),
        ),
      },
      { title: 'UnsentMessageCauses' },
    ),
  },
  { title: 'FailureCauses' },
)

const looked = failuresLookedAtMax.toLocaleString('en')
const shared = { tag: 'Counts', category: 'global', method: 'GET', scope: 'read' } as const

export const failureRoutes = [
  route({
    ...shared,
    path: '/v1/failures',
    operationId: 'listFailures',
    summary: 'List steps that failed',
    description: `One item per failure, the newest first; \`_id\` is that of the step, which can occur more than once with \`redriven\`. What was sent again since is not among them unless \`redriven\` asks for it, and a step that was skipped has not failed. Filters are combined by “and”, the values of one filter by “or”. Only the newest ${looked} failures of the range are read; if there are that many, \`totalCount\` is omitted: use \`before\` for older ones, with \`redriven\` \`without\` and \`only\` apart.`,
    query: Type.Object({
      channel: Type.Optional(
        Type.Array(literals(runnableStepTypes), { maxItems: filterValuesMax, description: 'The type of the step.' }),
      ),
      provider: some('The provider that the step failed at, such as `sendgrid`; `none` if it was none.'),
      code: some('What went wrong: a `code` of the list.'),
      redriven: Type.Optional(
        literals(['without', 'with', 'only'], {
          default: 'without',
          description:
            'Failures of steps that were redriven since, which counts still include: `with` lists them among the others, `only` alone, each with `redriven`. A step that failed several times is listed with each of its failures.',
        }),
      ),
      ...time,
      ...offsetParameters(pageLimitMax),
    }),
    replies: { 200: offsetPage('FailedStepPage', failedStep) },
    handle: async ({ db, versions }, { principal, query }) => {
      const { redriven = 'without', ...rest } = query
      const again = redriven === 'without' ? {} : { redriven }
      const asked = { ...rest, ...again, page: query.page ?? 0, limit: query.limit ?? 10 }
      return ok(await failedStepsPage(db, principal.environment, asked, versions))
    },
  }),
  route({
    ...shared,
    path: '/v1/failures/causes',
    operationId: 'listFailureCauses',
    summary: 'Count what failed by cause',
    description: `\`steps\`: what \`GET /v1/failures\` lists. \`messages\`: those with the status \`warning\`, as \`GET /v1/messages?status=warning&removed=with\` lists them, created in the range. The most frequent first. Only the newest ${looked} failed steps are read, and of each channel the newest ${looked} messages with the status \`warning\` or \`error\`.`,
    query: Type.Object(time),
    replies: { 200: failureCauses },
    handle: async ({ db }, { principal: { environment }, query }) => {
      const [steps, messages] = await Promise.all([
        failedGroups(db, environment, query),
        unsentGroups(db, environment, query),
      ])
      return ok({ steps, messages })
    },
  }),
]
