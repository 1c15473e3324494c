// The answer of simulating as JSON. Most recipients fare alike: what is the same of them is written once and put in for each.
import type { SimulatedMessage, SimulatedRecipient, SimulatedStep, Simulation } from '../domain/simulation.ts'

/**
 * What JSON.stringify gives but for the order of members, in two thirds of the time: that reads every character of every
 * recipient anew. Members are named here one by one; that none is missing is held by a test that names them all.
 */
export const simulationJson = (simulation: Simulation): string => new SimulationWriter().write(simulation)

class SimulationWriter {
  readonly #reasons = new Memo()
  readonly #integration = new Memo()
  readonly #content = new Memo()
  #step: SimulatedStep | undefined
  /** Of the step before, around its messages. */
  #before = ''
  #after = ''

  write(simulation: Simulation): string {
    const head = JSON.stringify({ ...simulation, recipients: undefined }).slice(0, -1)
    return `${head},"recipients":${this.#recipients(simulation.recipients)}}`
  }

  #recipients(recipients: readonly SimulatedRecipient[]): string {
    let text = ''
    for (const { subscriberId, isNew, timezone, topics, endsAt, steps } of recipients) {
      text += `${text === '' ? '' : ','}{"subscriberId":${JSON.stringify(subscriberId)},"isNew":${isNew}`
      text += `,"timezone":${timezone === null ? 'null' : JSON.stringify(timezone)},"topics":${listText(topics)}`
      text += `,"endsAt":"${endsAt}","steps":${this.#steps(steps)}}`
    }
    return `[${text}]`
  }

  #steps(steps: readonly SimulatedStep[]): string {
    let text = ''
    for (const step of steps) {
      if (this.#step === undefined || !areAlike(step, this.#step)) this.#learn(step)
      text += `${text === '' ? '' : ','}${this.#before}${this.#messages(step.messages)}${this.#after}`
    }
    return `[${text}]`
  }

  #learn(step: SimulatedStep): void {
    const { stepId, name, type, outcome, status, sentence, reasons, waits, asks } = step
    const { beginsAt, endsAt, window, throttle } = step
    const head = JSON.stringify({ stepId, name, type, outcome, status, sentence, waits, asks }).slice(0, -1)
    this.#before = `${head},"reasons":${this.#reasons.of(reasons)},"messages":`
    const tail = JSON.stringify({ beginsAt, endsAt, window, throttle }).slice(1)
    this.#after = tail === '}' ? tail : `,${tail}`
    this.#step = step
  }

  #messages(messages: readonly SimulatedMessage[]): string {
    let text = ''
    for (const message of messages) text += `${text === '' ? '' : ','}${this.#message(message)}`
    return `[${text}]`
  }

  #message(message: SimulatedMessage): string {
    const { channel, integration, errorText, contentOmitted, subject, title } = message
    const { content, email, phone, cta, actor, data, envelope } = message
    let text = `{"channel":"${channel}"`
    if (integration !== undefined) text += `,"integration":${this.#integration.of(integration)}`
    if (errorText !== undefined) text += `,"errorText":${JSON.stringify(errorText)}`
    if (contentOmitted !== undefined) text += `,"contentOmitted":${contentOmitted}`
    if (subject !== undefined) text += `,"subject":${JSON.stringify(subject)}`
    if (title !== undefined) text += `,"title":${JSON.stringify(title)}`
    if (content !== undefined) text += `,"content":${this.#content.of(content)}`
    if (email !== undefined) text += `,"email":${JSON.stringify(email)}`
    if (phone !== undefined) text += `,"phone":${JSON.stringify(phone)}`
    if (cta !== undefined) text += `,"cta":${JSON.stringify(cta)}`
    if (actor !== undefined) text += `,"actor":${JSON.stringify(actor)}`
    if (data !== undefined) text += `,"data":${JSON.stringify(data)}`
    return envelope === undefined ? `${text}}` : `${text},"envelope":${this.#envelope(envelope, content)}}`
  }

  /** Without a layout around it, an e-mail's HTML is what was written as the content. */
  #envelope(envelope: Readonly<Record<string, unknown>>, content: unknown): string {
    const { html } = envelope
    if (html === undefined || html !== content) return JSON.stringify(envelope)
    const rest = JSON.stringify({ ...envelope, html: undefined })
    return `{"html":${this.#content.of(html)}${rest === '{}' ? '' : ','}${rest.slice(1)}`
  }
}

/** In all but their messages. Those with windows and waits have moments of their own. */
const areAlike = (one: SimulatedStep, other: SimulatedStep): boolean =>
  one.stepId === other.stepId &&
  one.reasons === other.reasons &&
  one.sentence === other.sentence &&
  one.outcome === other.outcome &&
  one.status === other.status &&
  one.beginsAt === other.beginsAt &&
  one.endsAt === other.endsAt &&
  one.name === other.name &&
  one.type === other.type &&
  isPlain(one) &&
  isPlain(other)

const isPlain = ({ waits, asks, window, throttle }: SimulatedStep): boolean =>
  waits.length === 0 && asks.length === 0 && window === undefined && throttle === undefined

const listText = (list: readonly string[]): string => (list.length === 0 ? '[]' : JSON.stringify(list))

/** What was written last. */
class Memo {
  #last: unknown
  #text = ''

  of(value: unknown): string {
    if (value !== this.#last) {
      this.#text = JSON.stringify(value)
      this.#last = value
    }
    return this.#text
  }
}
