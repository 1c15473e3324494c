// posthorn simulate: shows what an event would do for whom, without doing it.
import { basename, dirname } from 'node:path'
import type { SimulatedMessage, SimulatedRecipient, SimulatedStep, Simulation } from '../domain/insight/simulation.ts'
import { recipientsShownMax } from '../simulate/simulate.ts'
import { clientFor } from './api-client.ts'
import type { Command, Terminal } from './command.ts'
import { CommandFailed, UsageError } from './command.ts'
import { countOf, readOptions, serviceUsage, timestampOf, wrongCall } from './terminal/arguments.ts'
import { tableLines, wrapped } from './terminal/table.ts'
import { visible, visibleJson } from './terminal/visible-text.ts'
import { readBelow } from './workflows/folder-files.ts'
import { readWorkflow } from './workflows/workflow-files.ts'

/** More than the API takes of a payload. */
const payloadBytesMax = 1024 * 1024
/** How much of a message's content is shown; all of it is in the JSON. */
const previewLength = 160

export const simulateCommand: Command = {
  name: 'simulate',
  about: 'Shows what an event would do, for whom, when and why, without doing it.',
  examples: [
    'posthorn simulate order-shipped --to ada --payload \'{"order": {"id": 7}}\'',
    'posthorn simulate --workflow-file flows/order-shipped.yaml --to ada --at 2026-12-24T20:00:00Z',
  ],
  usage: [
    'simulate WORKFLOW [--to SUBSCRIBER]... [--to-topic KEY]... [--payload JSON | --payload-file FILE | -] ' +
      `[--at TIMESTAMP] [--workflow-file FILE] [--limit N] ${serviceUsage}`,
  ],
  run: async (terminal, args) => {
    const { values, positionals } = readOptions(simulateCommand, args, {
      to: { type: 'string', multiple: true, default: [] },
      'to-topic': { type: 'string', multiple: true, default: [] },
      payload: { type: 'string' },
      'payload-file': { type: 'string' },
      at: { type: 'string' },
      'workflow-file': { type: 'string' },
      limit: { type: 'string' },
    })
    const names = positionals.filter((positional) => positional !== '-')
    const isFromInput = names.length < positionals.length
    const to = [...values.to, ...values['to-topic'].map((topicKey) => ({ type: 'Topic', topicKey }))]
    const file = values['workflow-file']
    if (names.length > 1 || (names.length === 0 && file === undefined)) throw wrongCall(simulateCommand)
    if (to.length === 0)
      throw new UsageError('No recipients: give --to SUBSCRIBER or --to-topic KEY, once or several times')
    const limit = countOf('--limit', values.limit, recipientsShownMax)
    if (isFromInput && values['payload-file'] !== undefined) throw givenTwice()
    const payload = await payloadOf(terminal, isFromInput ? { ...values, 'payload-file': '-' } : values)
    const workflow = file === undefined ? undefined : (await readWorkflow(dirname(file), basename(file))).document
    const body = {
      name: names[0] ?? workflow?.['workflowId'],
      to,
      ...(payload === undefined ? {} : { payload }),
      ...(values.at === undefined ? {} : { at: timestampOf('--at', values.at, new Date())?.toISOString() }),
      ...(workflow === undefined ? {} : { workflow }),
      ...(limit === undefined ? {} : { limit }),
    }
    const client = await clientFor(terminal, values)
    const { body: simulation } = await client.call<Simulation>('POST', '/v1/events/simulate', { body })
    if (values.json) terminal.print(visibleJson(simulation))
    else for (const line of simulationLines(simulation, terminal)) terminal.print(line)
    if (simulation.status === 'processed') return
    throw new CommandFailed(
      [`The trigger would return ${simulation.status}.`, ...(simulation.error ?? [])].join('\n  '),
    )
  },
}

const givenTwice = (): UsageError =>
  new UsageError('The payload is given twice: use one of --payload, --payload-file and -')

interface PayloadValues {
  readonly payload?: string | undefined
  readonly 'payload-file'?: string | undefined
}

async function payloadOf(terminal: Terminal, values: PayloadValues): Promise<object | undefined> {
  const { payload: given, 'payload-file': file } = values
  if (given !== undefined && file !== undefined) throw givenTwice()
  const isFromInput = given === '-' || file === '-'
  const text = isFromInput
    ? await terminal.readInput(payloadBytesMax)
    : file === undefined
      ? given
      : await readBelow(dirname(file), basename(file))
  if (text === undefined) return undefined
  const source = isFromInput ? 'The standard input' : file === undefined ? '--payload' : file
  const value = jsonOf(source, text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw new UsageError(`${source} must be a JSON object such as {"order": {"id": 7}}`)
}

function jsonOf(source: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new UsageError(`${source} is not valid JSON: ${(error as Error).message}`)
  }
}

function simulationLines(simulation: Simulation, { width }: Pick<Terminal, 'width'>): string[] {
  const { workflow, at, recipientCount, recipientCountCapped, recipients, warnings, assumptions, dropped } = simulation
  const count = `${recipientCount}${recipientCountCapped ? ' or more' : ''} ${recipientCount === 1 ? 'recipient' : 'recipients'}`
  const isAll = recipients.length === recipientCount
  const notes = [
    ...warnings.map((warning) => `Warning: ${warning}`),
    ...dropped.map(({ subscriberId, reason }) => `${subscriberId} would not be notified: ${dropWords[reason]}`),
    ...assumptions,
  ]
  return [
    visible(`${workflow?.identifier ?? 'The event'} at ${at}: ${count}${isAll ? '' : `, ${recipients.length} shown`}`),
    ...notes.flatMap((note) => wrapped(visible(note), width)),
    ...recipients.flatMap((recipient) => ['', ...recipientLines(recipient, width)]),
  ]
}

const dropWords = {
  excluded: 'the event excludes this subscriber',
  actor: 'this subscriber is the actor of the event',
  subscription: 'a preference of their subscription to the topic says so',
}

function recipientLines(
  { subscriberId, isNew, topics, timezone, steps }: SimulatedRecipient,
  width: number | undefined,
) {
  const facts = [
    ...(isNew ? ['new'] : []),
    ...(timezone === null ? [] : [timezone]),
    ...topics.map((topic) => `by topic ${topic}`),
  ]
  const rows = steps.map((step) => [
    step.name || step.type,
    step.type,
    step.outcome,
    step.beginsAt ?? '',
    step.endsAt === step.beginsAt ? '' : (step.endsAt ?? ''),
    by(step),
    [...waitSentences(step), step.sentence].join(' '),
  ])
  return [
    visible(`${subscriberId}${facts.length === 0 ? '' : ` (${facts.join(', ')})`}`),
    ...tableLines(['STEP', 'TYPE', 'OUTCOME', 'BEGINS', 'ENDS', 'BY', 'WHY'], rows, { width, indent: '  ' }),
    ...steps.flatMap((step) => step.messages.flatMap((message) => messageLine(message))),
  ]
}

/** Until when it waits, and why: a delay, a digest, quiet hours, do not disturb. */
function waitSentences({ waits, reasons }: SimulatedStep): string[] {
  return waits.map((until) => {
    const why = reasons.find(({ sentence, data }) => sentence.includes(until) || data['untilDate'] === until)
    return why?.sentence ?? `Waits until ${until}.`
  })
}

const by = ({ messages }: SimulatedStep): string =>
  [...new Set(messages.flatMap(({ integration }) => integration?.identifier ?? []))].join(', ')

function messageLine(message: SimulatedMessage): string[] {
  const { channel, email, phone, subject, title, content, errorText } = message
  const address = email ?? phone
  const said = [subject, title, typeof content === 'string' ? content : undefined].filter((text) => text !== undefined)
  const what =
    errorText ??
    said
      .join(' | ')
      .replaceAll(/<[^<>]*>/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim()
  if (what === '') return []
  const cut = what.length > previewLength ? `${what.slice(0, previewLength)}…` : what
  return [visible(`  ${channel}${address === undefined ? '' : ` to ${address}`}: ${cut}`)]
}
